import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'

/** One end of the channel between a process and its parent: the process itself, or its child. */
type End = Pick<NodeJS.Process, 'on' | 'send'> | Pick<ChildProcess, 'on' | 'send'>

interface Message {
  /** Present when an answer is expected. */
  id?: number
  what?: string
  value?: unknown
  /** The id of the question that this answers. */
  answers?: number
  problem?: string
}

/** Functions by the name of the message; a promise is awaited before its value is sent back. */
// biome-ignore lint/suspicious/noExplicitAny: each message has a value of its own type.
type Handlers = Record<string, (value: any, socket?: Socket) => unknown>

export type Channel = ReturnType<typeof channel>

/** Messages and questions between a process and its parent. */
export function channel(end: End, handlers: Handlers) {
  const waiting = new Map<number, { resolve(value: never): void; reject(error: Error): void }>()
  let last = 0
  // A failed send means that the other process has ended, which its parent notices.
  const send = (message: Message) => void end.send?.(message, undefined, undefined, () => {})

  async function answer({ id, what = '', value }: Message, socket?: Socket): Promise<void> {
    try {
      const result = await handlers[what]?.(value, socket)
      if (id !== undefined) send({ answers: id, value: result })
    } catch (error) {
      if (id !== undefined) send({ answers: id, problem: (error as Error).message })
    }
  }
  end.on('message', (message: Message, socket?: Socket) => {
    if (message.answers === undefined) return void answer(message, socket)
    const asked = waiting.get(message.answers)
    waiting.delete(message.answers)
    if (message.problem === undefined) asked?.resolve(message.value as never)
    else asked?.reject(new Error(message.problem))
  })
  const close = () => {
    for (const id of waiting.keys()) lose(id, new Error('the process has ended'))
  }
  end.on('disconnect', close)

  const lose = (id: number, error: Error) => {
    waiting.get(id)?.reject(error)
    waiting.delete(id)
  }
  const question = <Answer>(put: (id: number) => void) =>
    new Promise<Answer>((resolve, reject) => {
      const id = ++last
      waiting.set(id, { resolve, reject })
      put(id)
    })

  return {
    tell: (what: string, value?: unknown) => send({ what, value }),
    /** Ends all questions, because the other process has ended. Node does not always notice. */
    close,
    /** Gives the other process a connection; it stays open here too. */
    pass: (what: string, socket: Socket) =>
      question((id) => {
        end.send?.({ id, what }, socket, { keepOpen: true }, (error) => {
          if (error) lose(id, error)
        })
      }),
    ask: <Answer>(what: string, value?: unknown) =>
      question<Answer>((id) => send({ id, what, value })),
  }
}

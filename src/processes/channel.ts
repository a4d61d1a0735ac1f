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
  end.on('disconnect', () => {
    for (const { reject } of waiting.values()) reject(new Error('the process has ended'))
    waiting.clear()
  })

  return {
    tell: (what: string, value?: unknown) => send({ what, value }),
    /** Hands a connection over to the other process. */
    pass: (what: string, socket: Socket, done: (error: Error | null) => void) =>
      void end.send?.({ what }, socket, { keepOpen: false }, done),
    ask: <Answer>(what: string, value?: unknown) =>
      new Promise<Answer>((resolve, reject) => {
        const id = ++last
        waiting.set(id, { resolve, reject })
        send({ id, what, value })
      }),
  }
}

import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Log } from '../log.ts'
import { StartupError } from '../startup-error.ts'
import { type Channel, channel } from './channel.ts'
import type { Orders, Ready } from './part.ts'

const FIRST_PAUSE_MS = 200
const MAX_PAUSE_MS = 30_000
/** A process that has lived for so long begins with the first pause again. */
const STEADY_MS = 60_000

interface Needs {
  log: Log
  launch(): ChildProcess
  /** Asked at every start of the process. */
  orders(): Orders
  /** Answers the questions of the process. */
  metrics(): Promise<string>
  restart(service: string): Promise<unknown>
  ready(child: Channel, ready: Ready): void
  /** Called when the process can take the next connection. */
  taken(): void
}

export type Child = ReturnType<typeof keepRunning>

/** Runs a process and starts it again when it ends, with growing pauses, until it is told to stop. */
export function keepRunning(name: string, needs: Needs) {
  const { log, launch, orders, metrics, restart, ready, taken } = needs
  let tell: Channel['tell'] | undefined
  let current: Channel | undefined
  let isStopping = false
  let pause: NodeJS.Timeout | undefined
  let failures = 0
  let restarts = 0
  let over = Promise.resolve()
  let isTaking = false
  let settle: { resolve(ready: Ready): void; reject(error: Error): void } | undefined
  /** The first start. A start that fails later is tried again. */
  const started = new Promise<Ready>((resolve, reject) => {
    settle = { resolve, reject }
  })
  started.catch(() => {})

  function begin(): void {
    const begunAt = Date.now()
    let problem: string | undefined
    const child = launch()
    const link = channel(child, {
      orders,
      metrics,
      restart,
      failed(why: string) {
        problem = why
      },
      ready(report: Ready) {
        if (isStopping) return
        current = link
        ready(link, report)
        settle?.resolve(report)
        settle = undefined
      },
    })
    tell = link.tell
    over = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        current = undefined
        tell = undefined
        link.close()
        resolve()
        if (isStopping) return
        const reason = problem ?? `it ended with ${signal ?? code}`
        if (settle) {
          settle.reject(new StartupError(problem ?? `the process ${name} ${reason}`))
          settle = undefined
          return
        }
        if (Date.now() - begunAt > STEADY_MS) failures = 0
        const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures++)
        restarts++
        log.error(
          { worker: name, reason, pause_ms: pauseMs },
          'a process of this server ended unexpectedly; starting it again',
        )
        pause = setTimeout(begin, pauseMs)
      })
    })
    if (isStopping) link.tell('stop')
  }
  begin()

  return {
    name,
    started,
    /** Undefined while the process does not work. */
    get link() {
      return current
    },
    get restarts() {
      return restarts
    },
    /**
     * Hands a connection over, unless the process does not work or has not received the one before.
     * Node forgets those that queue behind a connection on its way when the process ends.
     */
    take(socket: Socket): boolean {
      if (!current || isTaking) return false
      isTaking = true
      const end = () => {
        // The process has its own copy, unless it ended before; then the client notices.
        socket.destroy()
        isTaking = false
        taken()
      }
      current.pass('connection', socket).then(end, end)
      return true
    },
    /** Lets the process end its work. */
    async stop(): Promise<void> {
      isStopping = true
      clearTimeout(pause)
      settle?.reject(new StartupError('the start was interrupted'))
      tell?.('stop')
      await over
    },
  }
}

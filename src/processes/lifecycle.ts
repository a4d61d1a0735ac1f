import { explainStartFailure } from '../startup-error.ts'

// Container engines kill a process ten seconds after SIGTERM; the limit stays below that.
const STOP_MS = 9000

/** Undoes the steps of the start. They run in reverse order when the process stops. */
export type Closers = (() => Promise<unknown> | unknown)[]

interface Life {
  /** Each step adds the closer that undoes it; it ends early when the signal is aborted. */
  start(closers: Closers, stopping: AbortSignal): Promise<void>
  /** Hands over the function that stops the process. */
  stopBy(stop: () => void): void
  /** Told about a start that failed, in one line. */
  failed(problem: string): void
  /** Time that a stop may take in addition, because it waits on purpose. */
  pauseMs(): number
}

/** Starts the parts of this process and undoes the start when it is told to stop. */
export async function live({ start, stopBy, failed, pauseMs }: Life): Promise<void> {
  const closers: Closers = []
  const stopping = new AbortController()
  let starting: Promise<void> | undefined
  const stop = async (code: number) => {
    // The terminal and npm may both send the signal.
    if (stopping.signal.aborted) return
    stopping.abort()
    // A closer that hangs must not keep the process alive; the database recovers committed work.
    setTimeout(() => process.exit(code || 1), STOP_MS + pauseMs()).unref()
    // The start adds its last closers before it ends.
    await starting?.catch(() => {})
    await closeAll(closers)
    process.exit(code)
  }
  stopBy(() => void stop(0))

  try {
    starting = start(closers, stopping.signal)
    await starting
  } catch (error) {
    if (stopping.signal.aborted) return
    failed(explainStartFailure(error))
    await stop(1)
  }
}

async function closeAll(closers: Closers): Promise<void> {
  for (const close of closers.reverse()) {
    try {
      await close()
    } catch (error) {
      process.stderr.write(`mailplane: while stopping: ${(error as Error).message}\n`)
    }
  }
}

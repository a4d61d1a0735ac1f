import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { moduleUrl } from '../project.ts'

const MIN_THREADS = 2
const MAX_THREADS = 4
const MAX_WAITING_PER_OWNER = 50
const MAX_WAIT_MS = 30_000
const IDLE_MS = 60_000
// A thread that needs more ends with an error; the process and its other threads go on.
const THREAD_MEMORY_MB = 1024

/** The work took longer than its time limit; its thread was ended. */
export class OutOfTime extends Error {}

/** The work was not started: too much work of the same owner was waiting, or it waited too long. */
export class PoolBusy extends Error {}

/** A module whose default export is a function that runs in a worker thread. */
interface TaskModule {
  // biome-ignore lint/suspicious/noExplicitAny: every task has its own input
  default: (input: any) => unknown
}

export interface Task<Module extends TaskModule> {
  url: string
  /** Carries the type only. */
  module?: Module
}

type Input<Module extends TaskModule> = Parameters<Module['default']>[0]
type Output<Module extends TaskModule> = Awaited<ReturnType<Module['default']>>

/** Names a task module by its path in `src/`, without `.task.ts`. */
export const taskIn = <Module extends TaskModule>(path: string): Task<Module> => ({
  url: moduleUrl(`${path}.task`).href,
})

interface Limits {
  /** Work of one owner never occupies all threads; `owner` is usually an organization. */
  owner: string
  timeLimitMs: number
}

interface Job extends Limits {
  url: string
  input: unknown
  resolve(output: unknown): void
  reject(error: Error): void
  waiting: NodeJS.Timeout | undefined
}

interface Thread {
  worker: Worker
  idle: NodeJS.Timeout | undefined
  job: Job | undefined
  limit: NodeJS.Timeout | undefined
}

export type WorkerPool = ReturnType<typeof workerPool>

/**
 * Runs work that a caller can make long in worker threads, so that the event loop stays free. Threads
 * start on demand and end when they are idle. Owners take turns.
 */
export function workerPool({
  size = Math.min(MAX_THREADS, Math.max(MIN_THREADS, availableParallelism())),
  threadMemoryMb = THREAD_MEMORY_MB,
} = {}) {
  const threads = new Set<Thread>()
  const queues = new Map<string, Job[]>()
  const perOwner = Math.max(1, size - 1)
  let isClosed = false

  function run<Module extends TaskModule>(
    { url }: Task<Module>,
    input: Input<Module>,
    limits: Limits,
  ): Promise<Output<Module>> {
    return new Promise<Output<Module>>((resolve, reject) => {
      const job: Job = {
        ...limits,
        url,
        input,
        resolve: resolve as Job['resolve'],
        reject,
        waiting: undefined,
      }
      const queue = queues.get(job.owner) ?? []
      if (isClosed || queue.length >= MAX_WAITING_PER_OWNER) return reject(new PoolBusy('too busy'))
      queue.push(job)
      queues.set(job.owner, queue)
      job.waiting = setTimeout(() => giveUp(job), MAX_WAIT_MS)
      startNext()
    })
  }

  function giveUp(job: Job): void {
    const queue = queues.get(job.owner)?.filter((other) => other !== job) ?? []
    if (queue.length > 0) queues.set(job.owner, queue)
    else queues.delete(job.owner)
    job.reject(new PoolBusy('waited too long'))
  }

  /** The owner whose turn it is goes to the end of the line. */
  function nextJob(): Job | undefined {
    const running = [...threads].map(({ job }) => job?.owner)
    for (const [owner, queue] of queues) {
      if (running.filter((one) => one === owner).length >= perOwner) continue
      queues.delete(owner)
      const job = queue.shift()
      if (queue.length > 0) queues.set(owner, queue)
      return job
    }
    return undefined
  }

  function startNext(): void {
    const free = [...threads].find(({ job }) => job === undefined)
    if (!free && threads.size >= size) return
    const job = nextJob()
    if (job) start(free ?? newThread(), job)
  }

  function start(thread: Thread, job: Job): void {
    clearTimeout(job.waiting)
    clearTimeout(thread.idle)
    thread.job = job
    thread.limit = setTimeout(() => {
      end(thread, new OutOfTime(`not done within ${job.timeLimitMs} ms`))
    }, job.timeLimitMs)
    thread.worker.ref()
    try {
      thread.worker.postMessage({ url: job.url, input: job.input })
    } catch (error) {
      end(thread, error as Error)
    }
    startNext()
  }

  function newThread(): Thread {
    const worker = new Worker(threadUrl, {
      execArgv: [],
      // The threads handle hostile input, so they get no secrets.
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: threadMemoryMb },
    })
    const thread: Thread = { worker, idle: undefined, job: undefined, limit: undefined }
    threads.add(thread)
    worker.on('message', ({ output, error }: { output?: unknown; error?: string }) => {
      const { job } = thread
      clearTimeout(thread.limit)
      thread.job = undefined
      worker.unref()
      thread.idle = setTimeout(() => end(thread, new Error('idle')), IDLE_MS)
      thread.idle.unref()
      startNext()
      if (error !== undefined) job?.reject(new Error(error))
      else job?.resolve(output)
    })
    worker.on('error', (error) => end(thread, error as Error))
    worker.on('exit', () => end(thread, new Error('the worker thread ended')))
    return thread
  }

  function end(thread: Thread, error: Error): void {
    if (!threads.delete(thread)) return
    clearTimeout(thread.limit)
    clearTimeout(thread.idle)
    void thread.worker.terminate()
    thread.job?.reject(error)
    startNext()
  }

  return {
    run,
    async close(): Promise<void> {
      isClosed = true
      for (const queue of queues.values()) {
        for (const job of queue) {
          clearTimeout(job.waiting)
          job.reject(new PoolBusy('the process stops'))
        }
      }
      queues.clear()
      const workers = [...threads].map(({ worker }) => worker)
      for (const thread of threads) end(thread, new PoolBusy('the process stops'))
      await Promise.all(workers.map((worker) => worker.terminate()))
    },
  }
}

const threadUrl = moduleUrl('lib/worker-thread')

import { parentPort } from 'node:worker_threads'

/** The main module of a worker thread: runs the tasks that the pool sends, one after the other. */
parentPort?.on('message', async ({ url, input }: { url: string; input: unknown }) => {
  try {
    const { default: run } = await import(url)
    parentPort?.postMessage({ output: await run(input) })
  } catch (error) {
    parentPort?.postMessage({ error: (error as Error).stack ?? String(error) })
  }
})

import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Answer, Job, Measurement } from './load.ts'
import type { Started } from './servers.ts'

/** Runs the load generator in its own process, so that it shares no event loop with a server. */
export function startGenerator(started: Started[]) {
  const child = fork(fileURLToPath(new URL('./load.ts', import.meta.url)))
  started.push({ child, url: '', port: 0 })
  return {
    run: (job: Job) =>
      new Promise<Measurement>((resolve, reject) => {
        const ended = () => reject(new Error('the load generator ended'))
        child.once('exit', ended)
        child.once('message', (answer: Answer) => {
          child.off('exit', ended)
          if ('error' in answer) {
            reject(new Error(`${job.method} ${job.path}: ${answer.error}`))
          } else resolve(answer)
        })
        child.send(job)
      }),
  }
}

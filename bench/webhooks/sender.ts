import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Started } from '../servers.ts'

export interface SenderJob {
  url: string
  count: number
  concurrency: number
}

type Answer = { error?: string }

/** Runs in the sender process: performs the job for every message from the parent. */
export function onJob(work: (job: SenderJob) => Promise<void>): void {
  process.on('message', (job: SenderJob) => {
    work(job).then(
      () => process.send?.({}),
      (error: Error) => process.send?.({ error: error.stack ?? error.message }),
    )
  })
}

/** Starts a sender in its own process. */
export function startSender(file: string, args: string[], started: Started[]) {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args, {
    env: { PATH: process.env.PATH },
  })
  started.push({ child, url: '', port: 0 })
  return (job: SenderJob) =>
    new Promise<void>((resolve, reject) => {
      const ended = () => reject(new Error(`${file} ended`))
      child.once('exit', ended)
      child.once('message', ({ error }: Answer) => {
        child.off('exit', ended)
        if (error === undefined) resolve()
        else reject(new Error(`${file}: ${error}`))
      })
      child.send(job)
    })
}

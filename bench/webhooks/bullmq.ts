import { createRequire } from 'node:module'
import { join } from 'node:path'
import { filledEnvelope, signed } from './envelope.ts'
import { poster } from './post.ts'
import { onJob } from './sender.ts'

// BullMQ is not a dependency: its folder and the port of Redis are arguments.
const [folder = '', port = ''] = process.argv.slice(2)
const { Queue, Worker } = createRequire(join(folder, 'package.json'))('bullmq') as BullMq

interface BullMq {
  Queue: new (name: string, options: object) => { addBulk(jobs: object[]): Promise<unknown> }
  Worker: new (
    name: string,
    work: (job: { data: { id: string } }) => Promise<void>,
    options: object,
  ) => {
    on(event: string, listener: (...args: never[]) => void): void
    close(): Promise<void>
  }
}

const NAME = 'webhooks'
const BATCH = 1000
const connection = { host: '127.0.0.1', port: Number(port), maxRetriesPerRequest: null }
const queue = new Queue(NAME, { connection })

onJob(async ({ url, count, concurrency }) => {
  for (let first = 0; first < count; first += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, count - first) }, (_, n) => first + n)
    await queue.addBulk(
      numbers.map((n) => ({
        name: 'send',
        data: filledEnvelope(`bench-1-${n}`, n),
        opts: { removeOnComplete: true, attempts: 8 },
      })),
    )
  }
  const post = poster(url, concurrency)
  const send = async ({ data }: { data: { id: string } }) => {
    const { headers, body } = signed(data)
    await post(headers, body)
  }
  const worker = new Worker(NAME, send, { connection, concurrency })
  let done = 0
  await new Promise<void>((resolve, reject) => {
    worker.on('completed', () => {
      if (++done === count) resolve()
    })
    worker.on('failed', (_job: never, error: never) => reject(error))
    worker.on('error', (error: never) => reject(error))
  })
  await worker.close()
})

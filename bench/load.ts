import { connect, type Socket } from 'node:net'

export interface LoadRequest {
  port: number
  method: string
  path: string
  headers: Record<string, string>
  /** `{n}` is replaced by a new number in every request. */
  body?: string
  /** Any other status ends the run. */
  status: number
}

export interface Job extends LoadRequest {
  connections: number
  settleMs: number
  measureMs: number
}

export interface Measurement {
  perSecond: number
  p50Ms: number
  p99Ms: number
}

export type Answer = Measurement | { error: string }

process.on('message', (job: Job) => {
  run(job).then(
    (measurement) => process.send?.(measurement),
    (error: Error) => process.send?.({ error: error.message }),
  )
})

/** Keeps one request in flight on each connection: no pipelining, no think time. */
async function run(job: Job): Promise<Measurement> {
  const latencies: number[] = []
  const nextRequest = requestsOf(job)
  const begin = performance.now() + job.settleMs
  const end = begin + job.measureMs
  const took = (sentAt: number, now: number) => {
    if (sentAt >= begin && now <= end) latencies.push(now - sentAt)
    return now < end
  }
  const loops = Array.from({ length: job.connections }, () => loop(job, nextRequest, took))
  await Promise.all(loops)
  latencies.sort((a, b) => a - b)
  const quantile = (part: number) => latencies[Math.ceil(part * latencies.length) - 1] ?? Number.NaN
  return {
    perSecond: (latencies.length * 1000) / job.measureMs,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
  }
}

// Continues over all rounds, because a row can be inserted only once.
let counter = 0

function requestsOf({ method, path, port, headers, body }: Job): () => string {
  const lines = Object.entries({ host: `127.0.0.1:${port}`, ...headers })
  const head = [`${method} ${path} HTTP/1.1`, ...lines.map((line) => line.join(': '))].join('\r\n')
  if (body === undefined) return () => `${head}\r\n\r\n`
  const number = () => String(counter++).padStart(9, '0')
  const length = Buffer.byteLength(body.replace('{n}', number()))
  return () => `${head}\r\ncontent-length: ${length}\r\n\r\n${body.replace('{n}', number())}`
}

function loop(
  { port, status }: Job,
  nextRequest: () => string,
  took: (sentAt: number, now: number) => boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let sentAt = 0
    let head = ''
    /** Missing bytes of the response; undefined until its header has arrived. */
    let missing: number | undefined
    const send = () => {
      sentAt = performance.now()
      head = ''
      missing = undefined
      socket.write(nextRequest(), 'latin1')
    }
    const read = (buffer: Buffer, bytes: number) => {
      if (missing === undefined) {
        head += buffer.toString('latin1', 0, bytes)
        missing = missingOf(head)
      } else missing -= bytes
      if (missing === undefined || missing > 0) return
      if (Number(head.slice(9, 12)) !== status) {
        socket.destroy()
        reject(new Error(head))
      } else if (took(sentAt, performance.now())) send()
      else {
        socket.destroy()
        resolve()
      }
    }
    // One buffer for all reads: the generator must use less CPU than the server it measures.
    const socket: Socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: {
        buffer: Buffer.allocUnsafe(64 * 1024),
        callback(bytes, buffer) {
          read(buffer as Buffer, bytes)
          return true
        },
      },
    })
    socket.once('connect', send)
    socket.once('error', reject)
    socket.once('end', () => reject(new Error('the server closed the connection')))
  })
}

/** Counts the missing bytes of a response. Every server here sends content-length. */
function missingOf(answer: string): number | undefined {
  const headEnd = answer.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const length = /\r\ncontent-length: (\d+)/i.exec(answer)?.[1]
  if (length === undefined) throw new Error(`an answer without content-length: ${answer}`)
  return headEnd + 4 + Number(length) - answer.length
}

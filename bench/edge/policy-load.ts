import { connect } from 'node:net'

/** Simulates Postfix on many connections, with one request at a time on each. */
export interface PolicyJob {
  port: number
  connections: number
  /** The protocol state in which the server counts a message. */
  state: 'RCPT' | 'END-OF-MESSAGE'
  /** Logins of the senders, used in turn. */
  logins: string[]
  /** Either a duration or a total number of requests. */
  measureMs?: number
  questions?: number
  /**
   * Total requests per second, independent of the responses. Without it, as many as the server
   * handles.
   */
  perSecond?: number
}

export interface PolicyAnswers {
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** The number of allowed messages. */
  allowed: number
  asked: number
}

process.on('message', (job: PolicyJob) => {
  run(job).then(
    (answers) => process.send?.(answers),
    (error: Error) => process.send?.({ error: error.message }),
  )
})

const SETTLE_MS = 1000
let messages = 0

async function run(job: PolicyJob) {
  const { port, connections, state, logins, measureMs, questions, perSecond } = job
  const everyMs = perSecond === undefined ? 0 : (1000 * connections) / perSecond
  const latencies: number[] = []
  let allowed = 0
  let asked = 0
  const begin = performance.now()
  // The first second warms up both sides.
  const settled = begin + (measureMs === undefined ? 0 : SETTLE_MS)
  const end = settled + (measureMs ?? Number.POSITIVE_INFINITY)
  const question = (): string | undefined => {
    if (performance.now() >= end || asked >= (questions ?? Number.POSITIVE_INFINITY)) return
    asked++
    const login = logins[asked % logins.length]
    return (
      `request=smtpd_access_policy\nprotocol_state=${state}\nprotocol_name=ESMTP\n` +
      `helo_name=client.example\nqueue_id=${messages}\nsender=someone@bench.example\n` +
      'recipient=other@elsewhere.example\nrecipient_count=1\nclient_address=192.0.2.7\n' +
      `client_name=client.example\ninstance=${process.pid}.${++messages}.0\n` +
      `sasl_method=plain\nsasl_username=${login}\nsize=4096\n\n`
    )
  }
  await Promise.all(
    Array.from({ length: connections }, (_, nth) => {
      return new Promise<void>((resolve, reject) => {
        const socket = connect({ port, host: '127.0.0.1', noDelay: true })
        let sentAt = 0
        let dueAt = begin + (everyMs * nth) / connections
        let answer = ''
        /**
         * The latency of a late request counts from its due time, so that queueing is not hidden.
         */
        const askInTime = () => {
          if (everyMs === 0) return ask()
          const wait = dueAt - performance.now()
          if (wait > 0) setTimeout(ask, wait)
          else ask()
        }
        const ask = () => {
          const text = question()
          sentAt = everyMs === 0 ? performance.now() : Math.min(dueAt, performance.now())
          dueAt += everyMs
          if (text === undefined) {
            socket.destroy()
            resolve()
          } else socket.write(text)
        }
        socket.once('connect', askInTime)
        socket.once('error', reject)
        socket.once('end', () => reject(new Error('the server closed the connection')))
        socket.on('data', (chunk) => {
          answer += chunk.toString('latin1')
          if (!answer.endsWith('\n\n')) return
          if (sentAt >= settled) latencies.push(performance.now() - sentAt)
          if (/^action=dunno/i.test(answer)) allowed++
          answer = ''
          askInTime()
        })
      })
    }),
  )
  const seconds = (performance.now() - settled) / 1000
  latencies.sort((a, b) => a - b)
  const quantile = (part: number) => latencies[Math.ceil(part * latencies.length) - 1] ?? Number.NaN
  return {
    perSecond: latencies.length / seconds,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    allowed,
    asked,
  }
}

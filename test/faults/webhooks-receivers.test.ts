import type { ServerResponse } from 'node:http'
import postgres, { type Sql } from 'postgres'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { cloneDatabase } from '../support/postgres.ts'
import { cleanUp, startServer, temporaryFolder, until } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { emitMany, receipts, recorded, waiting } from '../support/webhook-events.ts'

const EVENTS = 16
const ASKED_SECONDS = 2
const TWO_GIGABYTES = 2 * 1024 ** 3

type Receiver = Awaited<ReturnType<typeof startReceiver>>
type Fault = (response: ServerResponse) => void

let database: Awaited<ReturnType<typeof cloneDatabase>>
let sql: Sql
let receiver: Receiver
/** The target of the redirect, which must never be requested. */
let elsewhere: Receiver
let sentBytes = 0

// One daemon for all tests: a failing receiver must not affect the next one.
beforeAll(async () => {
  database = await cloneDatabase(inject('databaseUrl'))
  sql = postgres(database.url, { max: 1, onnotice: () => {} })
  receiver = await startReceiver()
  elsewhere = await startReceiver()
  await startServer({
    dataDir: temporaryFolder(),
    args: ['--services', 'webhooks'],
    env: {
      DATABASE_URL: database.url,
      SVC_SECRET_KEY: 'a root key that is long enough for it',
      WEBHOOK_URL: receiver.url,
      WEBHOOK_WORKERS: String(EVENTS),
      WEBHOOK_TIMEOUT: '10',
      WEBHOOK_RETRY_SCHEDULE: `0,${ASKED_SECONDS}`,
    },
  })
})
afterAll(async () => {
  await cleanUp()
  await receiver.stop()
  await elsewhere.stop()
  await sql.end()
  await database.drop()
})
beforeEach(() => {
  sentBytes = 0
})

/** Applies the failure to the first attempt of every event and accepts the second. */
function onceEach(fault: Fault): void {
  const seen = new Set<string>()
  receiver.state.reply = ({ json }, response) => {
    if (seen.has(json.id)) response.end('{}')
    else {
      seen.add(json.id)
      fault(response)
    }
  }
}

async function deliverAll(prefix: string, fault: Fault) {
  onceEach(fault)
  await emitMany(sql, prefix, EVENTS)
  await until(async () => (await waiting(sql, prefix)) === 0)
  return recorded(sql, prefix)
}

function oneByteAtATime(response: ServerResponse): void {
  const timer = setInterval(() => response.write('x'), 50)
  response.on('close', () => clearInterval(timer))
}

/** Writes as fast as the client reads. */
const endless =
  (status: number): Fault =>
  (response) => {
    const chunk = Buffer.alloc(64 * 1024, 'x')
    response.writeHead(status, { 'content-length': String(TWO_GIGABYTES) })
    let left = TWO_GIGABYTES
    const more = () => {
      while (left > 0 && !response.destroyed) {
        left -= chunk.length
        sentBytes += chunk.length
        if (!response.write(chunk)) return
      }
    }
    response.on('drain', more)
    more()
  }

const answer =
  (status: number, headers: Record<string, string> = {}): Fault =>
  (response) =>
    response.writeHead(status, headers).end('no')

describe('a misbehaving webhook receiver', () => {
  it.each<[string, number, RegExp, Fault]>([
    ['hangs', 0, /^Timeout$/, () => {}],
    ['resets', 0, /^The connection was lost$/, (response) => response.socket?.resetAndDestroy()],
    ['answers one byte at a time', 0, /^Timeout$/, oneByteAtATime],
    ['answers 500 and two gigabytes', 500, /^HTTP 500: x{500}$/, endless(500)],
    ['answers 500', 500, /^HTTP 500: no$/, answer(500)],
    [
      'redirects to loopback',
      302,
      /^HTTP 302: no$/,
      (response) => answer(302, { location: elsewhere.url })(response),
    ],
    [
      'redirects to loopback, asking for the same method',
      307,
      /^HTTP 307: no$/,
      (response) => answer(307, { location: elsewhere.url })(response),
    ],
  ])(
    'gets every event when it %s on the first attempt, and every attempt is recorded',
    async (name, code, error, fault) => {
      const prefix = name.replaceAll(/\W/g, '')
      const rows = await deliverAll(prefix, fault)
      expect(rows).toHaveLength(EVENTS)
      for (const { statuses, codes, errors, attempts } of rows) {
        expect([statuses, codes, attempts]).toEqual([
          ['retrying', 'delivered'],
          [code, 200],
          [1, 2],
        ])
        expect(errors).toEqual([expect.stringMatching(error), ''])
      }
      expect(receipts(receiver, prefix)).toMatchObject({ distinct: EVENTS, total: 2 * EVENTS })
      expect(elsewhere.got).toEqual([])
      // Only socket buffers are filled, not two gigabytes per response.
      expect(sentBytes / EVENTS).toBeLessThan(32 * 1024 ** 2)
    },
  )

  it('is retried after the time of its 429 Retry-After header', async () => {
    const arrivals = new Map<string, number[]>()
    const prefix = 'later'
    const rows = await deliverAll(prefix, answer(429, { 'retry-after': String(ASKED_SECONDS) }))
    expect(rows.map(({ codes }) => codes)).toEqual(Array(EVENTS).fill([429, 200]))
    for (const { json } of receiver.got) {
      if (!json.id.startsWith(prefix)) continue
      arrivals.set(json.id, [...(arrivals.get(json.id) ?? []), json.signature.timestamp])
    }
    for (const [first = 0, second = 0] of arrivals.values()) {
      expect(second - first).toBeGreaterThanOrEqual(ASKED_SECONDS)
    }
    expect(receipts(receiver, prefix)).toMatchObject({ distinct: EVENTS, total: 2 * EVENTS })
  })

  it('gets no retry and no dead letter after 406', async () => {
    const rows = await deliverAll('unwanted', answer(406))
    expect(rows.map(({ statuses }) => statuses)).toEqual(Array(EVENTS).fill(['abandoned']))
    expect(receipts(receiver, 'unwanted')).toEqual({ distinct: EVENTS, total: EVENTS })
    expect(await sql`select from webhook_dead_letters`).toHaveLength(0)
  })

  it('counts as successful with 200 although its response never ends', async () => {
    const rows = await deliverAll('chatty', endless(200))
    expect(rows.map(({ statuses }) => statuses)).toEqual(Array(EVENTS).fill(['delivered']))
    expect(receipts(receiver, 'chatty')).toEqual({ distinct: EVENTS, total: EVENTS })
    expect(sentBytes / EVENTS).toBeLessThan(32 * 1024 ** 2)
  })

  it('gets no request on a connection that it may be closing, because idle ones are closed first', async () => {
    await deliverAll('idle', (response) => response.end())
    await until(async () => (await receiver.connections()) === 0)
  })
})

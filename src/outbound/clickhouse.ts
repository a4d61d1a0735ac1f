import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { urlToHttpOptions } from 'node:url'
import type { Config } from '../config/index.ts'
import { ServiceUnavailable } from '../errors.ts'
import { exchange } from './exchange.ts'

/** Below the time that clients wait for an answer. */
const READ_SECONDS = 20
const WRITE_SECONDS = 120
const GRACE_MS = 5000
const CONNECTIONS = 16
/** ClickHouse closes idle connections after 3 seconds, and a request at that moment would fail. */
const IDLE_MS = 2000
const MAX_BYTES = 64 * 1024 * 1024
const SHOWN_CHARACTERS = 300
const RETRY_SECONDS = '5'

/** A part of a statement. Values get into it by the template `ch` alone. */
export class Fragment {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Value = Fragment | string | number | readonly (string | number)[]

/** A template for statements: fragments are inserted as they are, and all else as literals. */
export const ch = (parts: TemplateStringsArray, ...values: Value[]): Fragment =>
  new Fragment(parts.reduce((text, part, at) => text + literal(values[at - 1] as Value) + part))

export const joined = (fragments: readonly Fragment[], separator: ' and ' | ' or ' | ', ') =>
  new Fragment(fragments.map(({ text }) => text).join(separator))

/** The name of a column. */
export function column(name: string): Fragment {
  if (!/^[a-z_]+$/.test(name)) throw new TypeError(`${name} is no name of a column`)
  return new Fragment(name)
}

/**
 * ClickHouse has parameters of queries from version 19.14 on. The hexadecimal form of a text has no
 * character that could end the literal.
 */
function literal(value: Value): string {
  if (value instanceof Fragment) return value.text
  if (typeof value === 'string') return `unhex('${Buffer.from(value).toString('hex')}')`
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new TypeError(`${value} is no whole number`)
    return String(value)
  }
  if (value.length === 0) throw new TypeError('a list of values needs one value at least')
  return `(${value.map(literal).join()})`
}

/** ClickHouse is away, refuses a statement, or takes too long. The log has the reason. */
export class PastDaysAway extends ServiceUnavailable {
  static readonly text =
    'The mail log of past days is not available at the moment; try again in a few seconds'
  constructor() {
    super(PastDaysAway.text, { 'retry-after': RETRY_SECONDS })
  }
}

export type ClickHouse = ReturnType<typeof clickHouse>

interface Reporting {
  warn(details: { reason: string }, message: string): void
}

/** Connects on first use; undefined without MAIL_LOG_CLICKHOUSE_URL. */
export const clickHouseOf = (
  { MAIL_LOG_CLICKHOUSE_URL: url }: Pick<Config, 'MAIL_LOG_CLICKHOUSE_URL'>,
  log: Reporting,
): ClickHouse | undefined => (url === undefined ? undefined : clickHouse(url, log))

/**
 * A client of ClickHouse over HTTP. The operator chose the host, so the call is not guarded: with its network
 * in SVC_OUTBOUND_ALLOW, webhooks of tenants could reach it too.
 */
function clickHouse(address: string, log: Reporting) {
  const { target, headers, database } = partsOf(address)
  const pool = { keepAlive: true, maxSockets: CONNECTIONS, timeout: IDLE_MS }
  const agent = target.protocol === 'https:' ? new HttpsAgent(pool) : new HttpAgent(pool)

  async function call(seconds: number, settings: Record<string, string>, body: string) {
    const query = new URLSearchParams({
      database,
      // Otherwise an error in the middle of a result comes with the status 200.
      wait_end_of_query: '1',
      max_execution_time: String(seconds),
      ...settings,
    })
    const request = { method: 'POST', headers, body, maxBytes: MAX_BYTES } as const
    const timeoutMs = seconds * 1000 + GRACE_MS
    let reason: string
    try {
      const place = { ...target, path: `/?${query}`, agent }
      const { status, text, isCut } = await exchange(place, { ...request, timeoutMs })
      if (status === 200 && !isCut) return text
      reason = isCut ? 'the result is too long' : `${status} ${text.slice(0, SHOWN_CHARACTERS)}`
    } catch (error) {
      reason = (error as Error).message
    }
    log.warn({ reason }, 'ClickHouse unavailable')
    throw new PastDaysAway()
  }

  return {
    /** The rows of a query. ClickHouse refuses statements that change something. */
    async select<Row>({ text }: Fragment): Promise<Row[]> {
      const answer = await call(READ_SECONDS, { readonly: '2' }, `${text} format JSONEachRow`)
      const lines = answer.split('\n').filter((line) => line !== '')
      return lines.map((line) => JSON.parse(line) as Row)
    },
    async execute({ text }: Fragment): Promise<void> {
      await call(WRITE_SECONDS, {}, text)
    },
    async insert({ text }: Fragment, rows: readonly object[]): Promise<void> {
      const query = `insert into ${text} format JSONEachRow`
      await call(WRITE_SECONDS, { query }, rows.map((row) => JSON.stringify(row)).join('\n'))
    },
    close: () => agent.destroy(),
  }
}

/** The database is the path of the URL; the login goes into a header, so that no log has it. */
function partsOf(address: string) {
  const url = new URL(address)
  const [, database = ''] = url.pathname.split('/')
  const login = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  const headers =
    login === ':' ? {} : { authorization: `Basic ${Buffer.from(login).toString('base64')}` }
  const target = urlToHttpOptions(new URL('/', url.origin))
  return { target, headers, database: decodeURIComponent(database) || 'default' }
}

import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { unescape as decoded } from 'node:querystring'
import { urlToHttpOptions } from 'node:url'
import { memoize } from '../lib/cache.ts'
import { TimedOut } from '../lib/timeout.ts'
import { exchange, type Reply } from './exchange.ts'
import { hostOf, type OutboundGuard } from './guard.ts'

const MAX_ANSWER_BYTES = 16 * 1024
const SHOWN_CHARACTERS = 500
// Receivers close idle connections after some seconds, and a request at that moment would fail. So
// this side closes them first.
const IDLE_MS = 1000

/** The result of one attempt. Status 0 means that there was no response. */
export interface Answer {
  status: number
  error: string | null
  retryAfter?: string
}

interface Options {
  timeoutSeconds: number
  /** The maximum per host; unlimited by default. */
  connections?: number
  /** Required for targets that a tenant chose. Without it any IP address is allowed. */
  guard?: OutboundGuard
}

/**
 * Sends POST requests; never throws. Redirects are returned and not followed. The time limit covers
 * the whole exchange and only the start of the body is read, so that a slow or endless response
 * costs no more than a missing one.
 */
export function poster({ timeoutSeconds, connections = Number.POSITIVE_INFINITY, guard }: Options) {
  const timeoutMs = timeoutSeconds * 1000
  const pool = {
    keepAlive: true,
    maxSockets: connections,
    // Applies to idle connections only.
    timeout: IDLE_MS,
    ...(guard && { lookup: guard.lookup }),
  }
  const agents: Record<string, HttpAgent> = {
    'http:': new HttpAgent(pool),
    'https:': new HttpsAgent(pool),
  }

  // Parsing a URL costs a tenth of a request.
  const targetOf = memoize((url) => {
    const problem = guard?.problemOf(url)
    return problem === undefined ? partsOf(new URL(url), guard !== undefined) : { problem }
  })

  return {
    async post(
      url: string,
      headers: Record<string, string>,
      body: string | Buffer,
    ): Promise<Answer> {
      const target = targetOf(url)
      if ('problem' in target) return { status: 0, error: target.problem }
      const { address, login } = target
      const agent = agents[address.protocol as string]
      const request = { method: 'POST', headers: { ...login, ...headers }, body } as const
      try {
        const limits = { timeoutMs, maxBytes: MAX_ANSWER_BYTES }
        return answerOf(await exchange({ ...address, agent }, { ...request, ...limits }))
      } catch (error) {
        return { status: 0, error: reasonOf(error as Error) }
      }
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}

function answerOf({ status, headers, text }: Reply): Answer {
  const ok = status >= 200 && status < 300
  const retryAfter = headers['retry-after']
  return {
    status,
    error: ok ? null : `HTTP ${status}: ${text.slice(0, SHOWN_CHARACTERS)}`,
    ...(retryAfter !== undefined && { retryAfter }),
  }
}

/** The parts of a URL for a request; user name and password become an Authorization header. */
function partsOf(target: URL, isGuarded: boolean) {
  // Certificates contain names without the trailing dot.
  if (isGuarded && target.hostname.endsWith('.')) target.hostname = hostOf(target)
  // Unlike decodeURIComponent, this accepts a percent sign that is not an escape.
  const login = `${decoded(target.username)}:${decoded(target.password)}`
  target.username = ''
  target.password = ''
  return {
    address: urlToHttpOptions(target),
    login: login === ':' ? {} : { authorization: `Basic ${Buffer.from(login).toString('base64')}` },
  }
}

function reasonOf(error: Error): string {
  if (error instanceof TimedOut) return 'Timeout'
  if ((error as { code?: string }).code === 'ECONNRESET') return 'The connection was lost'
  // For a name with several IP addresses, this is the error of the first one.
  const [first] = (error as AggregateError).errors ?? []
  return error.message || (first as Error | undefined)?.message || error.name
}

import { unescape as decoded } from 'node:querystring'
import { Agent, type Dispatcher } from 'undici'
import { keptResults } from '../lib/kept-results.ts'
import { hostOf, type OutboundGuard } from './guard.ts'

const MAX_ANSWER_BYTES = 16 * 1024
const SHOWN_CHARACTERS = 500
// Many receivers close a connection after some idle seconds. A request that meets the closing one
// fails without having been seen, so idle connections are closed before anybody else does.
const IDLE_MS = 1000

/** What came of one attempt. Status 0: there was no answer. */
export interface Answer {
  status: number
  error: string | null
  retryAfter?: string
}

interface Options {
  timeoutSeconds: number
  /** To one host at once; without it as many as are asked for. */
  connections?: number
  /** For targets that a tenant chose. Without it any address is called. */
  guard?: OutboundGuard
}

/**
 * Posts and tells what happened; never throws. Redirects are answers like others. The time limit is
 * for the whole exchange, and of the body only the beginning is read: a receiver that sends one byte
 * a second, or two gigabytes, costs no more than one that is silent.
 */
export function poster({ timeoutSeconds, connections, guard }: Options) {
  const timeoutMs = timeoutSeconds * 1000
  const agent = new Agent({
    connections: connections ?? null,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    // One clock for all of it, see below.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: timeoutMs, ...(guard && { lookup: guard.lookup }) },
  })

  // Taking a URL apart costs a tenth of sending to it.
  const targetOf = keptResults((url) => {
    const problem = guard?.problemOf(url)
    return problem === undefined ? partsOf(new URL(url), guard !== undefined) : { problem }
  })

  return {
    async post(url: string, headers: Record<string, string>, body: string): Promise<Answer> {
      const target = targetOf(url)
      if ('problem' in target) return { status: 0, error: target.problem }
      const { origin, path, authorization } = target
      const list = authorization === undefined ? [] : ['authorization', authorization]
      for (const name in headers) list.push(name, headers[name] as string)
      const request = { origin, path, method: 'POST', headers: list, body } as const
      return new Promise((resolve) => agent.dispatch(request, new Exchange(timeoutMs, resolve)))
    },
    close: () => agent.destroy(),
  }
}

/** One request and what is read of its answer. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #resolve: (answer: Answer) => void
  readonly #timer: NodeJS.Timeout
  #controller: Dispatcher.DispatchController | undefined
  #settled = false
  #status = 0
  #retryAfter: string | undefined
  #text = ''

  constructor(timeoutMs: number, resolve: (answer: Answer) => void) {
    this.#resolve = resolve
    this.#timer = setTimeout(() => this.#giveUp({ status: 0, error: 'Timeout' }), timeoutMs)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // It waited for a connection until its time was up: whoever asked has an answer already.
    if (this.#settled) controller.abort(new Error('Timeout'))
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.#status = status
    const after = headers['retry-after']
    this.#retryAfter = Array.isArray(after) ? after[0] : after
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#text += chunk.toString('utf8')
    if (this.#text.length > MAX_ANSWER_BYTES) this.#giveUp(this.#answer())
  }

  onResponseEnd(): void {
    this.#settle(this.#answer())
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#settle({ status: 0, error: reasonOf(error) })
  }

  #answer(): Answer {
    const status = this.#status
    const ok = status >= 200 && status < 300
    return {
      status,
      error: ok ? null : `HTTP ${status}: ${this.#text.slice(0, SHOWN_CHARACTERS)}`,
      ...(this.#retryAfter !== undefined && { retryAfter: this.#retryAfter }),
    }
  }

  #giveUp(answer: Answer): void {
    this.#settle(answer)
    this.#controller?.abort(new Error('given up'))
  }

  #settle(answer: Answer): void {
    if (this.#settled) return
    this.#settled = true
    clearTimeout(this.#timer)
    this.#resolve(answer)
  }
}

/** What a request needs of its URL, with the login that it may hold. */
function partsOf(target: URL, isGuarded: boolean) {
  // The root's dot is no part of the name in a certificate.
  if (isGuarded && target.hostname.endsWith('.')) target.hostname = hostOf(target)
  // A percent sign that nobody escaped is one; an error would be tried again without an end.
  const login = `${decoded(target.username)}:${decoded(target.password)}`
  return {
    origin: target.origin,
    path: `${target.pathname}${target.search}`,
    authorization: login === ':' ? undefined : `Basic ${Buffer.from(login).toString('base64')}`,
  }
}

function reasonOf(error: Error): string {
  if ((error as { code?: string }).code === 'UND_ERR_SOCKET') return 'The connection was lost'
  // Where a name has several addresses: what went wrong with the first of them.
  const [first] = (error as AggregateError).errors ?? []
  return error.message || (first as Error | undefined)?.message || error.name
}

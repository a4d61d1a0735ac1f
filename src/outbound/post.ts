import http from 'node:http'
import https from 'node:https'
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
  const options = {
    keepAlive: true,
    timeout: IDLE_MS,
    ...(connections !== undefined && { maxSockets: connections, maxFreeSockets: connections }),
    ...(guard && { lookup: guard.lookup, maxFreeSockets: 4 }),
  }
  const agents = { 'http:': new http.Agent(options), 'https:': new https.Agent(options) }

  return {
    post(url: string, headers: Record<string, string>, body: string): Promise<Answer> {
      const problem = guard?.problemOf(url)
      if (problem !== undefined) return Promise.resolve({ status: 0, error: problem })
      const target = new URL(url)
      // The root's dot is no part of the name in a certificate.
      if (guard && target.hostname.endsWith('.')) target.hostname = hostOf(target)
      const secure = target.protocol === 'https:'
      return new Promise<Answer>((resolve) => {
        let settled = false
        const settle = (answer: Answer) => {
          if (settled) return
          settled = true
          clearTimeout(timer)
          resolve(answer)
        }
        const request = (secure ? https : http).request({
          host: target.hostname.replace(/^\[(.*)\]$/, '$1'),
          port: target.port,
          path: `${target.pathname}${target.search}`,
          method: 'POST',
          agent: agents[secure ? 'https:' : 'http:'],
          headers: headerList(target, headers, body),
        })
        const timer = setTimeout(() => {
          settle({ status: 0, error: 'Timeout' })
          request.destroy()
        }, timeoutSeconds * 1000)
        request.on('error', (error) => settle({ status: 0, error: error.message }))
        request.on('response', (response) => read(response, settle))
        request.end(body)
        // A header that cannot be sent: no attempt will fare better, and all of them count.
      }).catch((error: Error) => ({ status: 0, error: error.message }))
    },
    close() {
      agents['http:'].destroy()
      agents['https:'].destroy()
    },
  }
}

/**
 * Names and values in turn, which Node sends as they are: a quarter less work than an object. What it
 * would add to an object, the host and what the URL has of a login, is added here.
 */
function headerList(target: URL, headers: Record<string, string>, body: string): string[] {
  const list = ['host', target.host, 'content-length', String(Buffer.byteLength(body))]
  if (target.username !== '' || target.password !== '') {
    const login = `${decodeURIComponent(target.username)}:${decodeURIComponent(target.password)}`
    list.push('authorization', `Basic ${Buffer.from(login).toString('base64')}`)
  }
  for (const name in headers) list.push(name, headers[name] as string)
  return list
}

function read(response: http.IncomingMessage, settle: (answer: Answer) => void): void {
  const status = response.statusCode ?? 0
  const retryAfter = response.headers['retry-after']
  let text = ''
  const finish = () => {
    const ok = status >= 200 && status < 300
    settle({
      status,
      error: ok ? null : `HTTP ${status}: ${text.slice(0, SHOWN_CHARACTERS)}`,
      ...(retryAfter !== undefined && { retryAfter }),
    })
  }
  response.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8')
    if (text.length <= MAX_ANSWER_BYTES) return
    finish()
    response.destroy()
  })
  response.on('end', finish)
  response.on('error', finish)
  response.on('aborted', () => settle({ status: 0, error: 'The connection was lost' }))
}

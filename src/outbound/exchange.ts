import {
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestOptions,
} from 'node:http'
import { request as httpsRequest } from 'node:https'
import { urlToHttpOptions } from 'node:url'
import { TimedOut } from '../lib/timeout.ts'

export interface Exchange {
  method?: 'DELETE' | 'GET' | 'POST' | 'PUT'
  headers?: OutgoingHttpHeaders
  body?: string | Buffer
  /** For the whole exchange, with the wait for a connection and for the end of the body. */
  timeoutMs: number
  /** The response ends after this length. */
  maxBytes: number
}

export interface Reply {
  status: number
  headers: IncomingHttpHeaders
  text: string
  /** The body as it came. */
  bytes: Buffer
  /** The body was longer than `maxBytes`. */
  isCut: boolean
}

/**
 * One HTTP request and its response. Redirects are returned and not followed. Rejects with `TimedOut`
 * or with the error of the connection.
 */
export function exchange(
  target: URL | RequestOptions,
  { method = 'GET', headers = {}, body, timeoutMs, maxBytes }: Exchange,
): Promise<Reply> {
  const options = target instanceof URL ? urlToHttpOptions(target) : target
  const open = options.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    let hasResponse = false
    const request = open({ ...options, method, headers }, (response) => {
      hasResponse = true
      read(response, maxBytes).then(resolve, reject)
    })
    const timer = setTimeout(
      () => request.destroy(new TimedOut(`no answer within ${timeoutMs} ms`)),
      timeoutMs,
    )
    request.on('error', reject)
    request.on('close', () => {
      clearTimeout(timer)
      // Without effect after an error.
      if (!hasResponse) reject(new Error('the connection was closed without a response'))
    })
    request.end(body)
  })
}

async function read(response: IncomingMessage, maxBytes: number): Promise<Reply> {
  const chunks: Buffer[] = []
  let size = 0
  // Leaving the loop closes the connection.
  for await (const chunk of response) {
    chunks.push(chunk)
    size += chunk.length
    if (size > maxBytes) break
  }
  const bytes = Buffer.concat(chunks).subarray(0, maxBytes)
  const { statusCode: status = 0, headers } = response
  return {
    status,
    headers,
    bytes,
    get text() {
      return bytes.toString('utf8')
    },
    isCut: size > maxBytes,
  }
}

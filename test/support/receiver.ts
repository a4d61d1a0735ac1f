import http from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'

export interface Received {
  headers: http.IncomingHttpHeaders
  body: string
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what is being tested
  json: any
}

type Reply = (received: Received, response: http.ServerResponse, nth: number) => void

interface Place {
  host?: string
  port?: number
  /** The receiver is called over TLS, as `localhost`. */
  tls?: { key: string; cert: string }
}

/** A webhook receiver on loopback that records requests and sends the given responses. */
export async function startReceiver(
  reply: Reply = (_received, response) => response.end('{}'),
  { host = '127.0.0.1', port = 0, tls }: Place = {},
) {
  const got: Received[] = []
  const state = { reply, open: 0, mostOpen: 0 }
  const answer: http.RequestListener = (request, response) => {
    state.open++
    state.mostOpen = Math.max(state.mostOpen, state.open)
    response.on('close', () => {
      state.open--
    })
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8')
      const received = { headers: request.headers, body, json: JSON.parse(body) }
      got.push(received)
      state.reply(received, response, got.length)
    })
  }
  const server = tls ? https.createServer(tls, answer) : http.createServer(answer)
  // Only the client closes idle connections, so that a test sees whether it does.
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve) => server.listen(port, host, resolve))
  const bound = (server.address() as AddressInfo).port
  return {
    got,
    state,
    port: bound,
    connections: () =>
      new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count))),
    url: tls ? `https://localhost:${bound}/hook` : `http://${host}:${bound}/hook`,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

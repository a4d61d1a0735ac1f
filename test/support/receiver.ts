import http from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  headers: http.IncomingHttpHeaders
  body: string
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what is being tested
  json: any
}

type Reply = (received: Received, response: http.ServerResponse, nth: number) => void

/** A receiver of webhooks on loopback that remembers what it got and answers as it is told. */
export async function startReceiver(reply: Reply = (_received, response) => response.end('{}')) {
  const got: Received[] = []
  const state = { reply, open: 0, mostOpen: 0 }
  const server = http.createServer((request, response) => {
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
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    got,
    state,
    connections: () =>
      new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count))),
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

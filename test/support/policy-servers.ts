import { createServer as createHttp } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'

export type PolicyRequest = Record<string, string>

/**
 * A server for the policy protocol of Postfix that records requests and sends the given responses.
 */
export async function startPolicy(answer: (requests: PolicyRequest) => string = () => 'DUNNO') {
  const requests: PolicyRequest[] = []
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => {}).on('close', () => open.delete(socket))
    let buffer = ''
    socket.on('data', (chunk) => {
      buffer += chunk
      for (let end = buffer.indexOf('\n\n'); end !== -1; end = buffer.indexOf('\n\n')) {
        const lines = buffer.slice(0, end).split('\n')
        buffer = buffer.slice(end + 2)
        const request = Object.fromEntries(
          lines.map((line) => [
            line.slice(0, line.indexOf('=')),
            line.slice(line.indexOf('=') + 1),
          ]),
        )
        requests.push(request)
        socket.write(`action=${answer(request)}\n\n`)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    requests,
    port: (server.address() as AddressInfo).port,
    async stop() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/**
 * A server for the auth policy protocol of Dovecot: a request before and after each login, and a
 * report.
 */
export async function startAuthPolicy(isAllowed: (login: string) => boolean = () => true) {
  const requests: { command: string; key: string | undefined; body: Record<string, unknown> }[] = []
  const server = createHttp((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const command = new URL(request.url ?? '', 'http://x').searchParams.get('command') ?? ''
      const body = JSON.parse(Buffer.concat(chunks).toString())
      requests.push({ command, key: request.headers['x-edge-key'] as string | undefined, body })
      const allowed = command === 'report' || isAllowed(body.login)
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ status: allowed ? 0 : -1, msg: allowed ? '' : 'not now' }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    requests,
    port: (server.address() as AddressInfo).port,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

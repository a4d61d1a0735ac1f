import { createServer as createHttp } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'

export type Asked = Record<string, string>

/** Postfix's policy protocol: remembers what it is asked and answers as it is told. */
export async function startPolicy(answer: (asked: Asked) => string = () => 'DUNNO') {
  const asked: Asked[] = []
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
        asked.push(request)
        socket.write(`action=${answer(request)}\n\n`)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    asked,
    port: (server.address() as AddressInfo).port,
    async stop() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Dovecot's: a request before, one after, and a report of how it ended. */
export async function startAuthPolicy(isAllowed: (login: string) => boolean = () => true) {
  const asked: { command: string; key: string | undefined; body: Record<string, unknown> }[] = []
  const server = createHttp((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const command = new URL(request.url ?? '', 'http://x').searchParams.get('command') ?? ''
      const body = JSON.parse(Buffer.concat(chunks).toString())
      asked.push({ command, key: request.headers['x-edge-key'] as string | undefined, body })
      const allowed = command === 'report' || isAllowed(body.login)
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ status: allowed ? 0 : -1, msg: allowed ? '' : 'not now' }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    asked,
    port: (server.address() as AddressInfo).port,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

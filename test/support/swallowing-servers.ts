import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'

const portOf = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}
const closed = (server: Server) => new Promise((resolve) => server.close(resolve))

/** Accepts every message and keeps only its size, so that large ones cost the test little. */
export async function startSwallowingSmtp() {
  const sizes: number[] = []
  const server = createServer((socket) => {
    let isData = false
    let size = 0
    let tail = ''
    socket.on('error', () => {})
    socket.write('220 sink ESMTP\r\n')
    socket.on('data', (chunk) => {
      if (isData) {
        size += chunk.length
        tail = (tail + chunk.toString('latin1', Math.max(0, chunk.length - 5))).slice(-5)
        if (tail !== '\r\n.\r\n') return
        isData = false
        sizes.push(size)
        socket.write('250 2.0.0 Ok\r\n')
        return
      }
      const command = chunk.toString('latin1').toUpperCase()
      if (command.startsWith('DATA')) {
        isData = true
        size = 0
        tail = '\r\n'
        socket.write('354 Go on\r\n')
      } else if (command.startsWith('EHLO')) socket.write('250-sink\r\n250 8BITMIME\r\n')
      else if (command.startsWith('XCLIENT')) socket.write('220 sink ESMTP\r\n')
      else if (command.startsWith('QUIT')) socket.end('221 Bye\r\n')
      else socket.write('250 Ok\r\n')
    })
  })
  return { port: await portOf(server), sizes, stop: () => closed(server) }
}

/** An Rspamd that finds no spam. */
export async function startHarmlessRspamd() {
  const server = createHttpServer((request, response) => {
    request.resume().on('end', () => response.end('{"score":0,"action":"no action"}'))
  })
  const port = await portOf(server)
  return { url: `http://127.0.0.1:${port}`, stop: () => closed(server) }
}

import { type AddressInfo, createServer, type Socket } from 'node:net'

export interface Sunk {
  from: string
  to: string[]
  data: string
}

/**
 * All outside mail hosts: accepts and stores outgoing mail. Recipients whose domain begins with
 * `reject.` or `defer.` are refused permanently or temporarily.
 */
export async function startSink() {
  const got: Sunk[] = []
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket)).on('error', () => {})
    socket.write('220 sink.test ESMTP\r\n')
    let buffer = ''
    let mail: Sunk | undefined
    let inData = false
    // Bytes that certainly belong to the message, so that a large one is not searched from the
    // start each time.
    let body: string[] = []
    socket.on('data', (chunk) => {
      buffer += chunk.toString('latin1')
      for (;;) {
        const end = inData ? buffer.indexOf('\r\n.\r\n') : buffer.indexOf('\r\n')
        if (end === -1) {
          if (!inData) return
          body.push(buffer.slice(0, -4))
          buffer = buffer.slice(-4)
          return
        }
        const text = buffer.slice(0, end)
        buffer = buffer.slice(end + (inData ? 5 : 2))
        if (inData && mail) {
          inData = false
          const data = [...body, text].join('')
          body = []
          got.push({ ...mail, data: data.replace(/\r\n\.\./g, '\r\n.') })
          socket.write('250 2.0.0 taken\r\n')
        } else socket.write(reply(text))
      }
    })
    const reply = (line: string): string => {
      const address = /<(.*?)>/.exec(line)?.[1] ?? ''
      if (/^EHLO/i.test(line)) return '250-sink.test\r\n250 8BITMIME\r\n'
      if (/^MAIL/i.test(line)) {
        mail = { from: address, to: [], data: '' }
        return '250 2.1.0 ok\r\n'
      }
      if (/^RCPT/i.test(line)) {
        if (/@reject\./.test(address)) return '550 5.1.1 No such user here\r\n'
        if (/@defer\./.test(address)) return '451 4.7.1 Greylisted, try again later\r\n'
        mail?.to.push(address)
        return '250 2.1.5 ok\r\n'
      }
      if (/^DATA/i.test(line)) {
        inData = true
        return '354 go on\r\n'
      }
      if (/^QUIT/i.test(line)) {
        socket.end('221 2.0.0 bye\r\n')
        return ''
      }
      return '250 ok\r\n'
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    got,
    port,
    host: `[127.0.0.1]:${port}`,
    /** The messages received for an outside recipient. */
    to: (address: string) => got.filter((mail) => mail.to.includes(address)),
    async stop() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

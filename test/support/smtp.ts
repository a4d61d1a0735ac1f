import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface SentMail {
  from: string
  to: string[]
  text: string
}

export type SmtpSink = Awaited<ReturnType<typeof startSmtpSink>>

/** An SMTP server that accepts every message and forwards none. */
export async function startSmtpSink() {
  const messages: SentMail[] = []
  const open = new Set<Socket>()
  const listener = createServer((socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket)).on('error', () => {})
    receive(socket, messages)
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  return {
    port: (listener.address() as AddressInfo).port,
    messages,
    /** Messages to one e-mail address, in order of arrival. */
    to: (address: string) => messages.filter((mail) => mail.to.includes(address)),
    async stop() {
      for (const socket of open) socket.destroy()
      listener.close()
      await once(listener, 'close')
    },
  }
}

function receive(socket: Socket, messages: SentMail[]): void {
  let buffered = ''
  let mail: SentMail = { from: '', to: [], text: '' }
  let inData = false
  const say = (line: string) => socket.write(`${line}\r\n`)
  say('220 sink')
  socket.on('data', (chunk) => {
    buffered += chunk.toString('utf8')
    for (;;) {
      const end = buffered.indexOf('\r\n')
      if (end === -1) return
      const line = buffered.slice(0, end)
      buffered = buffered.slice(end + 2)
      if (!inData) command(line)
      else if (line === '.') {
        inData = false
        messages.push(mail)
        mail = { from: '', to: [], text: '' }
        say('250 taken')
      } else mail.text += `${line.replace(/^\./, '')}\r\n`
    }
  })

  function command(line: string) {
    const path = /<(.*?)>/.exec(line)?.[1] ?? ''
    if (/^MAIL/i.test(line)) mail.from = path
    if (/^RCPT/i.test(line)) mail.to.push(path)
    if (/^QUIT/i.test(line)) return socket.end('221 bye\r\n')
    if (/^DATA/i.test(line)) {
      inData = true
      return say('354 go on')
    }
    say('250 fine')
  }
}

/** RFC 2033: done once the server has replied for the recipient. */
export async function deliverOverLmtp(
  port: number,
  envelope: { from: string; to: string },
  message: string,
): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  socket.once('end', () => socket.destroy(new Error('the LMTP server hung up')))
  let received = ''
  const answer = async (expected: string) => {
    for (;;) {
      const match = /^(?:\d{3}-.*\r\n)*(\d{3}) .*\r\n/.exec(received)
      if (match) {
        received = received.slice(match[0].length)
        if (!match[1]?.startsWith(expected)) throw new Error(`LMTP: ${match[0]}`)
        return
      }
      const [chunk] = await once(socket, 'data')
      received += chunk.toString()
    }
  }
  try {
    await answer('220')
    for (const line of ['LHLO test', `MAIL FROM:<${envelope.from}>`, `RCPT TO:<${envelope.to}>`]) {
      socket.write(`${line}\r\n`)
      await answer('250')
    }
    socket.write('DATA\r\n')
    await answer('354')
    const lines = message.replace(/\r\n|\r|\n/g, '\r\n').replace(/^\./gm, '..')
    socket.write(`${lines}${lines.endsWith('\r\n') ? '' : '\r\n'}.\r\n`)
    await answer('250')
  } finally {
    socket.destroy()
  }
}

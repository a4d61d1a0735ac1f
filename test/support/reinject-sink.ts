import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'

export interface Received {
  sender: string
  recipients: string[]
  content: string
}

/** Its behaviour: accept, reject the recipient, fail after the message, or never respond. */
export type SinkMood = 'well' | 'refuses' | 'drops' | 'silent'

/** A mail server that stores received messages. */
export async function startReinjectSink() {
  const received: Received[] = []
  const state = { mood: 'well' as SinkMood, beforeAnswer: async () => {} }
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    if (state.mood === 'silent') return
    let text = ''
    let isData = false
    let mail: Received = { sender: '', recipients: [], content: '' }
    socket.write('220 sink ESMTP\r\n')
    socket.setEncoding('latin1').on('data', (chunk) => {
      text += chunk
      void (async () => {
        for (;;) {
          const end = isData ? text.indexOf('\r\n.\r\n') : text.indexOf('\r\n')
          if (end === -1) return
          const line = text.slice(0, isData ? end + 2 : end)
          text = text.slice(end + (isData ? 5 : 2))
          if (isData) {
            isData = false
            mail.content = line.replace(/^\.\./gm, '.')
            if (state.mood === 'drops') return socket.destroy()
            received.push(mail)
            await state.beforeAnswer()
            socket.write('250 2.0.0 Ok: queued\r\n')
          } else if (/^EHLO/i.test(line)) socket.write('250-sink\r\n250 8BITMIME\r\n')
          else if (/^XFORWARD/i.test(line)) socket.write('250 Ok\r\n')
          else if (/^XCLIENT/i.test(line)) socket.write('220 sink ESMTP\r\n')
          else if (/^MAIL FROM:<(.*?)>/i.test(line)) {
            mail = { sender: /<(.*?)>/.exec(line)?.[1] ?? '', recipients: [], content: '' }
            socket.write('250 Ok\r\n')
          } else if (/^RCPT TO:/i.test(line)) {
            mail.recipients.push(/<(.*?)>/.exec(line)?.[1] ?? '')
            socket.write(state.mood === 'refuses' ? '550 5.1.1 No such user\r\n' : '250 Ok\r\n')
          } else if (/^DATA/i.test(line)) {
            isData = true
            socket.write('354 Go on\r\n')
          } else socket.write('221 Bye\r\n')
        }
      })()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    received,
    state,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

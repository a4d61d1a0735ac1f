import { connect, type Socket } from 'node:net'

/**
 * One connection of the policy protocol, used like Postfix does: requests and responses in turn.
 */
export function policyClient(port: number) {
  const socket: Socket = connect(port, '127.0.0.1')
  const waiting: { resolve(action: string): void; reject(error: Error): void }[] = []
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString()
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      waiting.shift()?.resolve(text.slice('action='.length, end))
      text = text.slice(end + 2)
    }
  })
  const fail = (error: Error) => {
    for (const { reject } of waiting.splice(0)) reject(error)
  }
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('the server has closed the connection')))
  const read = () =>
    new Promise<string>((resolve, reject) => {
      waiting.push({ resolve, reject })
    })

  return {
    socket,
    ask(attributes: Record<string, string | number>): Promise<string> {
      const all = { request: 'smtpd_access_policy', ...attributes }
      const lines = Object.entries(all).map(([name, value]) => `${name}=${value}\n`)
      const answer = read()
      socket.write(`${lines.join('')}\n`)
      return answer
    },
    /** Sends raw bytes and returns the next response. */
    send(bytes: string | Buffer): Promise<string> {
      const answer = read()
      socket.write(bytes)
      return answer
    },
    close: () => socket.destroy(),
  }
}

let messages = 0

/** An END-OF-MESSAGE request of an authenticated sender; each one is a new message. */
export const endOfMessage = (login: string, more: Record<string, string | number> = {}) => ({
  protocol_state: 'END-OF-MESSAGE',
  client_address: '192.0.2.7',
  sender: 'whoever@elsewhere.test',
  recipient: 'somebody@elsewhere.test',
  recipient_count: 1,
  instance: `3ae7.${process.pid}.${++messages}.0`,
  sasl_username: login,
  ...more,
})

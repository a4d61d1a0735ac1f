import http from 'node:http'
import net, { type AddressInfo } from 'node:net'

const listening = async (server: net.Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** As much of Dovecot as the API talks to: IMAP LOGIN, and the command that flushes its login cache. */
export async function fakeDovecot() {
  const passwords = new Map<string, string>()
  const flushed: string[] = []
  const imap = net.createServer((socket) => {
    let received = ''
    socket.write('* OK ready\r\n')
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      received += chunk.toString('utf8')
      const login = /^a LOGIN \{\d+\}\r\n(.*) \{\d+\}\r\n(.*)\r\n$/s.exec(received)
      if (!login) return socket.write('+ go on\r\n')
      const right = passwords.get(login[1] as string) === login[2]
      socket.write(right ? 'a OK\r\n' : 'a NO [AUTHENTICATIONFAILED] no\r\n')
    })
  })
  const doveadm = http.createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      for (const [, { user }] of JSON.parse(body)) flushed.push(...user)
      response.end('[["doveadmResponse",[],"flush"]]')
    })
  })
  const imapPort = await listening(imap)
  const doveadmPort = await listening(doveadm)
  return {
    /** What the mail server takes for the password of an address. */
    passwords,
    flushed,
    env: {
      IMAP_HOST: '127.0.0.1',
      IMAP_PORT: String(imapPort),
      IMAP_TLS: 'false',
      DOVEADM_URL: `http://127.0.0.1:${doveadmPort}`,
      DOVEADM_API_KEY: 'key',
    },
    stop() {
      imap.close()
      doveadm.close()
      doveadm.closeAllConnections()
    },
  }
}

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { flood, reader, type SocketReader } from './line-server.ts'

/** The behaviour of a connection; everything else follows RFC 3501. */
export type Behaviour =
  | 'accept'
  | 'refuse'
  | 'unavailable'
  | 'privacy-required'
  | 'no-greeting'
  | 'hang'
  | 'reset'
  | 'hang-up'
  | 'garbage'
  | 'endless-line'
  | 'endless-lines'
  | 'refuse-literal'
  | 'preauth'
  | 'bye'

export interface ImapServer {
  port: number
  /** Can be changed while the server runs. */
  behaviour: Behaviour
  /** Passwords that `accept` checks; without any it accepts all. */
  passwords: Map<string, string>
  /** Received user names and passwords, byte for byte. */
  logins: { user: Buffer; password: Buffer; secure: boolean }[]
  /** Connections since the start. */
  connections: number
  /** Connections open now. */
  open(): number
  stop(): Promise<void>
}

interface Options {
  behaviour?: Behaviour
  tls?: 'implicit' | 'starttls' | 'none'
  /** Plain text injected after the STARTTLS response, as by a man in the middle. */
  injected?: string
}

const certificate = () => ({
  key: readFileSync(new URL('./tls-key.pem', import.meta.url)),
  cert: readFileSync(new URL('./tls-cert.pem', import.meta.url)),
})

/** An IMAP server with LOGIN, literals and STARTTLS that can misbehave in many ways. */
export async function startImapServer(options: Options = {}): Promise<ImapServer> {
  const open = new Set<Socket>()
  const tls = options.tls ?? 'none'
  const listener = createServer((socket) => {
    server.connections++
    open.add(socket)
    socket.on('close', () => open.delete(socket)).on('error', () => {})
    if (tls === 'implicit') talk(secured(socket), true)
    else talk(socket, false)
  })

  const secured = (socket: Socket) => {
    const secure = new TLSSocket(socket, { isServer: true, ...certificate() })
    return secure.on('error', () => socket.destroy())
  }

  function talk(socket: Socket, secure: boolean, greet = true): unknown {
    const { behaviour } = server
    if (behaviour === 'hang') return
    if (behaviour === 'reset') return socket.resetAndDestroy()
    if (behaviour === 'hang-up') return socket.end()
    if (behaviour === 'no-greeting') return socket.write('220 this is SMTP\r\n')
    if (behaviour === 'garbage') return socket.write(Buffer.alloc(300, 0xff))
    if (behaviour === 'endless-line') return flood(socket, Buffer.alloc(8192, 'x'))
    const status = behaviour === 'preauth' ? 'PREAUTH' : 'OK'
    if (greet) {
      socket.write(`* ${status} [CAPABILITY IMAP4rev1${secure ? '' : ' STARTTLS'}] ready\r\n`)
    }
    const read = reader(socket)
    void converse(socket, read, secure).catch(() => socket.destroy())
  }

  async function converse(socket: Socket, read: SocketReader, secure: boolean): Promise<void> {
    for (;;) {
      const line = (await read.line()).toString('latin1')
      const [tag = '*', command = ''] = line.split(' ')
      const say = (text: string) => socket.write(`${tag} ${text}\r\n`)
      if (command === 'STARTTLS' && tls === 'starttls') {
        read.stop()
        socket.write(`${tag} OK begin\r\n${options.injected ?? ''}`)
        talk(secured(socket), true, false)
        return
      }
      if (command === 'LOGOUT') return void socket.end(`* BYE\r\n${tag} OK\r\n`)
      if (command !== 'LOGIN') {
        say('BAD unknown command')
        continue
      }
      if (server.behaviour === 'preauth') {
        say('BAD already authenticated')
        continue
      }
      if (server.behaviour === 'refuse-literal') {
        say('BAD literals are not welcome')
        continue
      }
      socket.write('+ go on\r\n')
      const user = await read.bytes(literalLength(line))
      const rest = (await read.line()).toString('latin1')
      socket.write('* a remark in between\r\n+ go on\r\n')
      const password = await read.bytes(literalLength(rest))
      await read.line()
      server.logins.push({ user, password, secure })
      if (server.behaviour === 'endless-lines') return flood(socket, '* still thinking\r\n')
      if (server.behaviour === 'bye') return void socket.end('* BYE try later\r\n')
      say(verdict(user.toString('utf8'), password.toString('utf8')))
    }
  }

  function verdict(user: string, password: string): string {
    if (server.behaviour === 'unavailable')
      return 'NO [UNAVAILABLE] Temporary authentication failure'
    if (server.behaviour === 'privacy-required') return 'NO [PRIVACYREQUIRED] Use TLS'
    const isRight = server.passwords.size === 0 || server.passwords.get(user) === password
    return server.behaviour === 'accept' && isRight
      ? 'OK Logged in'
      : 'NO [AUTHENTICATIONFAILED] Authentication failed.'
  }

  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const server: ImapServer = {
    port: (listener.address() as AddressInfo).port,
    behaviour: options.behaviour ?? 'accept',
    passwords: new Map(),
    logins: [],
    connections: 0,
    open: () => open.size,
    async stop() {
      for (const socket of open) socket.destroy()
      listener.close()
      await once(listener, 'close')
    },
  }
  return server
}

const literalLength = (line: string) => Number(/\{(\d+)\}$/.exec(line)?.[1] ?? Number.NaN)

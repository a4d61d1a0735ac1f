import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { flood, reader, type SocketReader } from './line-server.ts'

/** The behaviour of a connection; everything else follows RFC 5804. */
export type Behaviour =
  | 'normal'
  | 'hang'
  | 'reset'
  | 'hang-up'
  | 'garbage'
  | 'not-sieve'
  | 'endless-line'
  | 'endless-lines'
  | 'bye'
  | 'no-starttls'
  | 'refuse-starttls'
  | 'inject-before-tls'
  | 'plain-after-starttls'
  | 'no-plain'
  | 'refuse-login'
  | 'hang-up-at-login'
  | 'hang-after-login'
  | 'bye-after-login'
  | 'huge-literal'
  | 'endless-answer'
  | 'unterminated-quote'
  | 'try-later'
  | 'no-space'
  | 'compiler'
  | 'refuse'

interface Scripts {
  scripts: Map<string, string>
  active: string | undefined
}

export type SieveServer = Awaited<ReturnType<typeof startSieveServer>>

export const MASTER = { user: 'master', password: 'the "master" \\ secret' }
const DIAGNOSTIC = 'line 3: error: unknown command `frobnicate".\r\nerror: parse failed.\r\n'

const certificate = () => ({
  key: readFileSync(new URL('./tls-key.pem', import.meta.url)),
  cert: readFileSync(new URL('./tls-cert.pem', import.meta.url)),
})

/** A ManageSieve server that stores scripts, runs none, and can misbehave in many ways. */
export async function startSieveServer(behaviour: Behaviour = 'normal') {
  const open = new Set<Socket>()
  const mailboxes = new Map<string, Scripts>()
  const server = {
    port: 0,
    /** Can be changed while the server runs. */
    behaviour,
    /** All login attempts as received. */
    logins: [] as { mailbox: string; user: string; password: string; secure: boolean }[],
    /** Received commands in order, without their scripts. */
    commands: [] as string[],
    connections: 0,
    /** A delay in milliseconds before each response, so that requests can overlap. */
    delayMs: 0,
    open: () => open.size,
    of(mailbox: string): Scripts {
      const found = mailboxes.get(mailbox) ?? { scripts: new Map(), active: undefined }
      mailboxes.set(mailbox, found)
      return found
    },
    env: (): Record<string, string> => ({
      IMAP_MASTER_USER: MASTER.user,
      IMAP_MASTER_PASSWORD: MASTER.password,
      SIEVE_HOST: '127.0.0.1',
      SIEVE_PORT: String(server.port),
      SIEVE_TIMEOUT: '1',
      SIEVE_PROBE_TIMEOUT: '1',
    }),
    async stop() {
      for (const socket of open) socket.destroy()
      listener.close()
      await once(listener, 'close')
    },
  }
  const listener = createServer((socket) => {
    server.connections++
    open.add(socket)
    socket.on('close', () => open.delete(socket)).on('error', () => {})
    void serve(socket, server).catch(() => socket.destroy())
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  server.port = (listener.address() as AddressInfo).port
  return server
}

async function serve(plain: Socket, server: SieveServer): Promise<unknown> {
  const is = (...some: Behaviour[]) => some.includes(server.behaviour)
  if (is('hang')) return
  if (is('reset')) return plain.resetAndDestroy()
  if (is('hang-up')) return plain.end()
  if (is('garbage')) return plain.write(Buffer.alloc(300, 0xff))
  if (is('not-sieve')) return plain.write('220 this is SMTP\r\n')
  if (is('endless-line')) return flood(plain, Buffer.alloc(8192, 'x'))
  if (is('endless-lines')) return flood(plain, '"IMPLEMENTATION" "endless"\r\n')
  if (is('bye')) return plain.end('BYE (TRYLATER) "not now"\r\n')

  const greeting = (secure: boolean) =>
    [
      '"IMPLEMENTATION" "test \\"quoted\\""',
      '"SIEVE" "fileinto"',
      `"SASL" "${is('no-plain') ? 'SCRAM-SHA-256' : 'LOGIN PLAIN'}"`,
      ...(secure || is('no-starttls') ? [] : ['"STARTTLS"']),
      'OK "ready."\r\n',
    ].join('\r\n')

  let socket: Socket = plain
  let read = reader(socket)
  let secure = false
  let mailbox: Scripts | undefined
  socket.write(greeting(false))
  for (;;) {
    const [command = '', ...words] = await commandOf(read)
    const say = (text: string) => socket.write(`${text}\r\n`)
    server.commands.push([command, words[0] ?? ''].join(' ').trim())
    if (server.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, server.delayMs))
    if (command === 'LOGOUT') return socket.end('OK "bye"\r\n')
    if (command === 'STARTTLS') {
      if (is('refuse-starttls')) say('NO "no TLS today"')
      else if (is('plain-after-starttls')) say(`OK "go"\r\n${greeting(true)}`.trimEnd())
      else {
        say(`OK "go"${is('inject-before-tls') ? '\r\n"SASL" "PLAIN"\r\nOK "trust me"' : ''}`)
        read.stop()
        socket = new TLSSocket(plain, { isServer: true, ...certificate() })
        socket.on('error', () => plain.destroy())
        read = reader(socket)
        secure = true
        socket.write(greeting(true))
      }
      continue
    }
    if (command === 'AUTHENTICATE') {
      const [of = '', user = '', password = ''] = Buffer.from(words[1] ?? '', 'base64')
        .toString('utf8')
        .split('\0')
      server.logins.push({ mailbox: of, user, password, secure })
      if (is('hang-up-at-login')) return socket.end()
      const right = user === MASTER.user && password === MASTER.password
      if (!right || is('refuse-login')) {
        say('NO "Authentication failed."')
        continue
      }
      mailbox = server.of(of)
      say('OK "Logged in."')
      continue
    }
    if (!mailbox) {
      say('NO "log in first"')
      continue
    }
    if (is('hang-after-login')) continue
    if (is('bye-after-login')) return socket.end('BYE "going down"\r\n')
    if (is('huge-literal')) say('{999999999}')
    else if (is('endless-answer')) return flood(socket, '"a script"\r\n')
    else if (is('unterminated-quote')) say('NO "never closed')
    else if (is('try-later')) say('NO (TRYLATER) "later"')
    else if (is('refuse')) say('NO (REFERRAL "sieve://elsewhere") "not here"')
    else if (is('no-space') && command === 'PUTSCRIPT') {
      say('NO (QUOTA/MAXSIZE) "Script is too large."')
    } else if (is('compiler') && command === 'PUTSCRIPT') {
      say(`NO {${DIAGNOSTIC.length}}\r\n${DIAGNOSTIC}`)
    } else execute(mailbox, command, words, say)
  }
}

function execute(
  mailbox: Scripts,
  command: string,
  [name = '', text = '']: string[],
  say: (text: string) => void,
): void {
  const { scripts } = mailbox
  const missing = command !== 'PUTSCRIPT' && name !== '' && !scripts.has(name)
  if (command === 'LISTSCRIPTS') {
    for (const one of scripts.keys()) say(`"${one}"${one === mailbox.active ? ' ACTIVE' : ''}`)
    say('OK "done"')
  } else if (missing) say(`NO (NONEXISTENT) "no ${name}"`)
  else if (command === 'GETSCRIPT') {
    const script = scripts.get(name) ?? ''
    say(`{${Buffer.byteLength(script)}}\r\n${script}`)
    say('OK')
  } else if (command === 'PUTSCRIPT') {
    scripts.set(name, text)
    say('OK (WARNINGS) "fine"')
  } else if (command === 'SETACTIVE') {
    mailbox.active = name || undefined
    say('OK "done"')
  } else if (command === 'DELETESCRIPT') {
    const isActive = mailbox.active === name
    if (!isActive) scripts.delete(name)
    say(isActive ? 'NO (ACTIVE) "in use"' : 'OK "done"')
  } else say('NO "unknown command"')
}

/** The words of the next command, with decoded strings and literals. */
async function commandOf(read: SocketReader): Promise<string[]> {
  const words: string[] = []
  for (;;) {
    const text = (await read.line()).toString('utf8')
    for (const [, quoted, atom] of text.matchAll(/"((?:[^"\\]|\\.)*)"|([^\s"{]+)/g)) {
      if (atom === undefined || !/^\d+\+\}$/.test(atom)) {
        words.push(atom ?? (quoted as string).replace(/\\(.)/g, '$1'))
      }
    }
    const length = /\{(\d+)\+\}$/.exec(text)?.[1]
    if (length === undefined) return words
    words.push((await read.bytes(Number(length))).toString('utf8'))
  }
}

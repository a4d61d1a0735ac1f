import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Config } from '../config.ts'
import { ServiceUnavailable } from '../errors.ts'

const MAX_LINE_BYTES = 64 * 1024

/**
 * Asks the mail server whether a password is right, by logging in over IMAP. False only when the
 * server refuses the login itself; anything else means that nobody knows, and throws. The server is
 * told for which client, so that failures are not held against us.
 */
export type ImapLogin = (address: string, password: string, client: string) => Promise<boolean>

export function imapLogin(config: Config): ImapLogin {
  return async (address, password, client) => {
    if (!config.IMAP_HOST)
      throw new ServiceUnavailable('Mailbox login is not configured; set IMAP_HOST')
    // RFC 3501 §9: neither a quoted string nor a literal can hold NUL; line breaks need a literal.
    if (/[\0\r\n]/.test(address) || password.includes('\0')) return false
    try {
      return await logIn(config, config.IMAP_HOST, address, password, client)
    } catch {
      throw new ServiceUnavailable('Mail server unavailable')
    }
  }
}

async function logIn(
  config: Config,
  host: string,
  address: string,
  password: string,
  client: string,
): Promise<boolean> {
  const deadline = Date.now() + config.IMAP_AUTH_TIMEOUT * 1000
  // On loopback nobody stands in between, and private servers have certificates of their own.
  const verify = config.IMAP_TLS_VERIFY && !isLoopback(host)
  const tls = { ...(isIP(host) ? {} : { servername: host }), rejectUnauthorized: verify }
  const tcp = connectTcp({ host, port: config.IMAP_PORT })
  let talk = conversation(tcp, deadline)
  try {
    if (config.IMAP_TLS === 'true') {
      await talk.connected()
      talk = conversation(connectTls({ ...tls, socket: tcp }), deadline)
    }
    const greeting = await talk.line()
    if (!/^\* (OK|PREAUTH)/i.test(greeting)) throw new Error('the server does not greet')
    if (config.IMAP_TLS === 'starttls') {
      talk.send('s STARTTLS\r\n')
      if (!/^s OK/i.test(await talk.tagged('s'))) throw new Error('STARTTLS is refused')
      // RFC 3501 §6.2.1: what arrived before the handshake must not be taken for part of it.
      talk = conversation(connectTls({ ...tls, socket: talk.detach() }), deadline)
    }
    // Dovecot believes it from networks that it trusts, and says in its greeting that it hears it.
    if (/\[CAPABILITY[^\]]* ID[ \]]/i.test(greeting) && isIP(client)) {
      talk.send(`i ID ("x-originating-ip" "${client}")\r\n`)
      await talk.tagged('i')
    }
    const name = Buffer.byteLength(address)
    const secret = Buffer.byteLength(password)
    talk.send(`a LOGIN {${name}}\r\n`)
    await talk.continuation()
    talk.send(`${address} {${secret}}\r\n`)
    await talk.continuation()
    talk.send(`${password}\r\n`)
    const answer = await talk.tagged('a')
    if (/^a OK/i.test(answer)) {
      talk.send('z LOGOUT\r\n')
      return true
    }
    // RFC 5530 §3: with these codes the server or the connection, not the password, is at fault.
    const isOther = /\[(UNAVAILABLE|SERVERBUG|INUSE|LIMIT|PRIVACYREQUIRED)\]/i.test(answer)
    if (/^a NO/i.test(answer) && !isOther) return false
    throw new Error('the server cannot tell')
  } finally {
    talk.end()
    tcp.destroy()
  }
}

const isLoopback = (host: string) => host === 'localhost' || host === '::1' || /^127\./.test(host)

/** Lines from a server that may be slow, silent, endless or gone. */
function conversation(socket: Socket, deadline: number) {
  let received = ''
  let failure: Error | undefined
  let wake = () => {}
  const onData = (chunk: Buffer) => {
    received += chunk.toString('latin1')
    if (received.length > MAX_LINE_BYTES) fail(new Error('the server sends too much'))
    wake()
  }
  const fail = (error: Error) => {
    failure ??= error
    wake()
  }
  const onEnd = () => fail(new Error('the server hung up'))
  socket.on('data', onData).on('error', fail).on('close', onEnd)

  const changed = () =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error('the server is silent')),
        Math.max(0, deadline - Date.now()),
      )
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  async function line(): Promise<string> {
    for (;;) {
      const end = received.indexOf('\r\n')
      if (end !== -1) {
        const text = received.slice(0, end)
        received = received.slice(end + 2)
        return text
      }
      if (failure) throw failure
      await changed()
    }
  }

  return {
    line,
    send: (text: string) => socket.write(text),
    async connected() {
      socket.once('connect', () => wake())
      while (socket.connecting) {
        if (failure) throw failure
        await changed()
      }
      this.detach()
    },
    async tagged(tag: string): Promise<string> {
      for (;;) {
        const text = await line()
        if (text.startsWith(`${tag} `)) return text
      }
    },
    async continuation(): Promise<void> {
      for (;;) {
        const text = await line()
        if (text.startsWith('+')) return
        if (!text.startsWith('*')) throw new Error('the server refuses a literal')
      }
    },
    /** Hands the socket on, for TLS to take over. */
    detach(): Socket {
      socket.off('data', onData)
      return socket
    },
    end: () => socket.destroy(),
  }
}

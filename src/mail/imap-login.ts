import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import type { Config } from '../config/index.ts'
import type { MailServerSettings } from '../config/mail-servers.ts'
import { ServiceUnavailable } from '../errors.ts'
import { isLoopback } from '../lib/ip-ranges.ts'
import type { Vault } from '../lib/vault.ts'
import type { CurrentMailServers } from './mail-servers.ts'

const MAX_LINE_BYTES = 64 * 1024
const PAUSE_MS = 250

/**
 * Checks a password by an IMAP login on the mail server. Returns false only when the server refuses
 * the login; every other failure throws. Sends the IP address of the client, so that the server
 * does not count failures against this host.
 *
 * imapflow with `verifyOnly` is not used: after a PREAUTH greeting it accepts any password, it marks
 * BAD like NO as a failed authentication, and it sends NAMESPACE after every login.
 */
export type ImapLogin = (address: string, password: string, client: string) => Promise<boolean>

type Settings = Pick<Config, 'IMAP_AUTH_TIMEOUT' | 'IMAP_TLS_VERIFY'>

/** Tells Dovecot that the control plane asks for the second factor itself; see `edge.mailbox_password`. */
export const loginKey = (vault: Vault): string => vault.fingerprint('login of a holder', 'key')

interface Client {
  ip: string
  key: string
}

export function imapLogin(
  config: Settings,
  mailServers: CurrentMailServers,
  key: string,
): ImapLogin {
  return async (address, password, client) => {
    const settings = { ...config, ...mailServers.current() }
    const { IMAP_HOST: host } = settings
    if (!host) throw new ServiceUnavailable('Mailbox login is not configured; set IMAP_HOST')
    // RFC 3501 §9: neither a quoted string nor a literal can hold NUL; line breaks need a literal.
    if (/[\0\r\n]/.test(address) || password.includes('\0')) return false
    const deadline = Date.now() + config.IMAP_AUTH_TIMEOUT * 1000
    const ask = () => logIn(settings, host, address, password, { ip: client, key }, deadline)
    try {
      return await untilAnswered(ask, deadline)
    } catch {
      throw new ServiceUnavailable('Mail server unavailable')
    }
  }
}

/** The server is there, but could not check the password now, as Dovecot while it reloads. */
class NotNow extends Error {}

async function untilAnswered(ask: () => Promise<boolean>, deadline: number): Promise<boolean> {
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof NotNow) || Date.now() + PAUSE_MS >= deadline) throw error
    }
    await sleep(PAUSE_MS)
  }
}

async function logIn(
  config: Settings & MailServerSettings,
  host: string,
  address: string,
  password: string,
  client: Client,
  deadline: number,
): Promise<boolean> {
  // On loopback there is no man in the middle, and private servers have self-signed certificates.
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
    if (!/^\* (OK|PREAUTH)/i.test(greeting)) throw new Error('the server sent no greeting')
    if (config.IMAP_TLS === 'starttls') {
      talk.send('s STARTTLS\r\n')
      if (!/^s OK/i.test(await talk.tagged('s'))) throw new Error('the server refused STARTTLS')
      // RFC 3501 §6.2.1: discard plain text that arrived before the handshake.
      talk = conversation(connectTls({ ...tls, socket: talk.detach() }), deadline)
    }
    // Dovecot announces ID in its greeting, and accepts IP address and key from trusted networks.
    if (/\[CAPABILITY[^\]]* ID[ \]]/i.test(greeting) && isIP(client.ip)) {
      talk.send(`i ID ("x-originating-ip" "${client.ip}" "x-forward-key" "${client.key}")\r\n`)
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
    // RFC 5530 §3: these codes report a failure of the server or of the connection.
    const isOther = /\[(UNAVAILABLE|SERVERBUG|INUSE|LIMIT|PRIVACYREQUIRED)\]/i.test(answer)
    if (/^a NO/i.test(answer) && !isOther) return false
    if (/\[UNAVAILABLE\]/i.test(answer))
      throw new NotNow('the server cannot check the password now')
    throw new Error('the server did not check the password')
  } finally {
    talk.end()
    tcp.destroy()
  }
}

/** Reads lines from a server until a deadline, with bounded memory. */
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
  const onEnd = () => fail(new NotNow('the server hung up'))
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
      if (failure) throw failure
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
        if (!text.startsWith('*')) throw new Error('the server refused a literal')
      }
    },
    /** Returns the socket for the TLS handshake. */
    detach(): Socket {
      socket.off('data', onData)
      return socket
    },
    end: () => socket.destroy(),
  }
}

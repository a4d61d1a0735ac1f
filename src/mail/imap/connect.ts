import { isIP, type Socket } from 'node:net'
import type { ImapFlow } from 'imapflow'
import { OutboundRefused } from '../../outbound/guard.ts'
import { COMMAND_MS, tooSlow, type Wire, wire } from './wire.ts'

const CONNECT_MS = 20_000
const SILENCE_MS = 120_000
// A list of two million UIDs is one line.
const MAX_LINE_BYTES = 16 * 1024 * 1024
const MAX_LITERAL_BYTES = 1024 * 1024

/** An IMAP server and the login for it. */
export interface ImapServer {
  /** The host name that the user gave; the certificate must match it. */
  name: string
  port: number
  /** `opportunistic` uses STARTTLS if the server offers it. */
  security: 'tls' | 'starttls' | 'opportunistic' | 'none'
  verify: boolean
  user: string
  secret: string
  auth: 'password' | 'oauth2'
  /** Time limit of one command. */
  commandMs?: number
  /** Resolves the IP addresses; throws `OutboundRefused` for a forbidden one. */
  addresses(): Promise<string[]>
}

/** A retry cannot help: a wrong password, a bad certificate, or not an IMAP server. */
export class ConnectionRefused extends Error {}
/** A retry may succeed. */
export class ConnectionFailed extends Error {}

const STARTTLS = { tls: undefined, starttls: true, opportunistic: undefined, none: false } as const

/**
 * Connects and logs in with imapflow. The caller closes the connection. `firstMs` limits the login, and the
 * silence of the server until `allowSilence`.
 */
export async function connectImap(
  server: ImapServer,
  signal: AbortSignal,
  firstMs = Number.POSITIVE_INFINITY,
): Promise<ImapFlow> {
  // Loaded on first use, because most processes never connect.
  const { ImapFlow } = await import('imapflow')
  signal.throwIfAborted()
  const [ip = ''] = await server.addresses().catch((error) => {
    throw error instanceof OutboundRefused
      ? new ConnectionRefused(error.message)
      : new ConnectionFailed(`${server.name} could not be found: ${messageOf(error)}`)
  })
  const { auth, commandMs = COMMAND_MS, secret, user } = server
  const silenceMs = Math.min(SILENCE_MS, firstMs)
  const loginMs = Math.min(commandMs, firstMs)
  const client = new ImapFlow({
    // The checked IP address, not the name: a second DNS look-up could return another one.
    host: ip,
    ...(!isIP(server.name) && { servername: server.name }),
    port: server.port,
    secure: server.security === 'tls',
    doSTARTTLS: STARTTLS[server.security],
    tls: { rejectUnauthorized: server.verify },
    auth: { user, ...(auth === 'oauth2' ? { accessToken: secret } : { pass: secret }) },
    logger: false,
    disableAutoIdle: true,
    // Keeps folder names in modified UTF-7 on every connection.
    disableAutoEnable: true,
    disableIMAP4rev2: true,
    disableCompression: true,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: silenceMs,
    maxLineLength: MAX_LINE_BYTES,
    maxLiteralSize: MAX_LITERAL_BYTES,
    maxResponseSize: MAX_LINE_BYTES + MAX_LITERAL_BYTES,
  })
  // An unhandled error event would end the process; the command under way rejects anyway.
  client.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code === 'ETIMEOUT') late.set(client, new ConnectionFailed(tooSilent(server, silenceMs)))
  })
  const stop = () => client.close()
  signal.addEventListener('abort', stop, { once: true })
  client.once('close', () => signal.removeEventListener('abort', stop))
  limitCommands(client, commandMs)
  const patience = setTimeout(() => {
    late.set(client, new ConnectionFailed(tooSilent(server, loginMs)))
    client.close()
  }, loginMs)
  try {
    await client.connect()
  } catch (error) {
    client.close()
    signal.throwIfAborted()
    throw judged(server, lateness(client) ?? error)
  } finally {
    clearTimeout(patience)
  }
  return client
}

/** A server that has answered may be silent for longer, for example while it opens a large folder. */
export function allowSilence(client: ImapFlow): void {
  const { socket } = client as unknown as { socket: Socket | false }
  if (socket) socket.setTimeout(SILENCE_MS)
}

const tooSilent = ({ name }: Pick<ImapServer, 'name'>, ms: number) =>
  `${name} does not respond for ${Math.round(ms / 1000)} seconds`

const late = new WeakMap<ImapFlow, ConnectionFailed>()

/** The error of a connection that was closed because a command exceeded its time limit. */
export const lateness = (client: ImapFlow): ConnectionFailed | undefined => late.get(client)

function closeLate(client: ImapFlow, commandMs: number) {
  late.set(client, new ConnectionFailed(tooSlow(commandMs)))
  client.close()
}

/** imapflow only limits silence; a server that sends one byte per minute would never time out. */
function limitCommands(client: ImapFlow, commandMs: number) {
  const { exec } = client as unknown as { exec: (...args: unknown[]) => Promise<unknown> }
  const limited = async (...args: unknown[]) => {
    const timer = setTimeout(() => closeLate(client, commandMs), commandMs)
    try {
      return await exec.apply(client, args)
    } catch (error) {
      throw lateness(client) ?? error
    } finally {
      clearTimeout(timer)
    }
  }
  Object.assign(client, { exec: limited })
}

/** Connects and logs in, then replaces imapflow by `wire` for copying messages. */
export async function connectWire(
  server: ImapServer,
  signal: AbortSignal,
): Promise<Wire & { capabilities: Set<string> }> {
  const client = await connectImap(server, signal)
  const capabilities = new Set(client.capabilities.keys())
  const { readSocket, writeSocket, socket } = client.unbind()
  const plain = wire(readSocket, writeSocket, () => socket.destroy(), server.commandMs)
  signal.addEventListener('abort', plain.close, { once: true })
  socket.once('close', () => signal.removeEventListener('abort', plain.close))
  return Object.assign(plain, { capabilities })
}

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|ALTNAME/
const TOO_MUCH = /^(Line|Literal|Response)TooLarge$/

/** Classifies an error of imapflow as retryable or final. */
export function judged({ name }: Pick<ImapServer, 'name'>, error: unknown): Error {
  if (error instanceof ConnectionRefused || error instanceof ConnectionFailed) return error
  const {
    code = '',
    authenticationFailed,
    responseText,
  } = error as {
    code?: string
    authenticationFailed?: boolean
    responseText?: string
  }
  if (authenticationFailed) {
    return new ConnectionRefused(`${name} refuses the login: ${responseText ?? messageOf(error)}`)
  }
  if (CERTIFICATE.test(code)) {
    return new ConnectionRefused(
      `The certificate of ${name} cannot be verified (${messageOf(error)}); correct it, or set source_tls_verify or target_tls_verify to false for this job`,
    )
  }
  if (TOO_MUCH.test(code)) {
    return new ConnectionRefused(`${name} does not behave like an IMAP server: ${messageOf(error)}`)
  }
  return new ConnectionFailed(`${name}: ${responseText ?? messageOf(error)}`)
}

export const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, 500)

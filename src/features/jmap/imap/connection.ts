import type { Core } from '../../../core.ts'
import { isLoopback } from '../../../lib/ip-ranges.ts'
import {
  ConnectionFailed,
  ConnectionRefused,
  connectWire,
  type ImapServer,
} from '../../../mail/imap/connect.ts'
import { quoted } from '../../../mail/imap/messages.ts'
import { Refused, type Response, type Wire, WireBroken } from '../../../mail/imap/wire.ts'
import { encodeName } from './folder-names.ts'

const COMMAND_MS = 60_000
const ANSWER_BYTES = 64 * 1024 * 1024

/** The mail server cannot be reached, or ended the connection. */
export class MailServerAway extends Error {}

export const isAway = (error: unknown): boolean =>
  error instanceof MailServerAway ||
  error instanceof WireBroken ||
  error instanceof ConnectionFailed ||
  error instanceof ConnectionRefused

type Needs = Pick<Core, 'config' | 'mailServers'>

export interface OpenedFolder {
  uidValidity: number
  uidNext: number
  modseq: number
  messages: number
}

export type Connection = Awaited<ReturnType<typeof openConnection>>

/** A connection to the mail of one address, with the master login of the mail server. */
export async function openConnection(needs: Needs, address: string, signal: AbortSignal) {
  const wire = await connectWire(serverOf(needs, address), signal)
  await wire.command(['ENABLE CONDSTORE QRESYNC\r\n'])
  return connection(wire)
}

export function serverOf({ config, mailServers }: Needs, address: string): ImapServer {
  const settings = mailServers.current()
  const { IMAP_HOST: host, IMAP_MASTER_USER: user, IMAP_MASTER_PASSWORD: secret } = settings
  if (!host || !user || !secret) {
    throw new MailServerAway('IMAP_HOST, IMAP_MASTER_USER and IMAP_MASTER_PASSWORD are not all set')
  }
  return {
    name: host,
    port: settings.IMAP_PORT,
    security: ({ true: 'tls', starttls: 'starttls', false: 'none' } as const)[settings.IMAP_TLS],
    // A private edge has a self-signed certificate, and loopback needs no protection.
    verify: config.IMAP_TLS_VERIFY && !isLoopback(host),
    user: `${address}*${user}`,
    secret,
    auth: 'password',
    commandMs: COMMAND_MS,
    addresses: async () => [host],
  }
}

function connection(wire: Wire & { capabilities: Set<string> }) {
  let opened: { path: string; isWritable: boolean } | undefined

  async function command(
    text: string,
    { literal = 1024 * 1024, answer = ANSWER_BYTES }: { literal?: number; answer?: number } = {},
  ): Promise<{ ok: string; responses: Response[] }> {
    const responses: Response[] = []
    const ok = await wire.command([`${text}\r\n`], { literal, answer }, (response) =>
      responses.push(response),
    )
    return { ok, responses }
  }

  /** Opens a folder, also when it is open: the answer has its current figures. */
  async function examine(path: string): Promise<OpenedFolder> {
    opened = undefined
    const { ok, responses } = await command(`EXAMINE ${quoted(encodeName(path))}`)
    opened = { path, isWritable: false }
    const text = [...responses.map((response) => response.text), ok].join('\n')
    const code = (name: string) =>
      Number(new RegExp(`\\[${name} (\\d+)\\]`, 'i').exec(text)?.[1] ?? 0)
    return {
      uidValidity: code('UIDVALIDITY'),
      uidNext: code('UIDNEXT'),
      modseq: code('HIGHESTMODSEQ'),
      messages: Number(/^\* (\d+) EXISTS/im.exec(text)?.[1] ?? 0),
    }
  }

  return {
    wire,
    command,
    examine,
    /** Opens a folder for changes unless it is open. */
    async select(path: string): Promise<void> {
      if (opened?.path === path && opened.isWritable) return
      opened = undefined
      await command(`SELECT ${quoted(encodeName(path))}`)
      opened = { path, isWritable: true }
    },
    /** Opens a folder for reading unless it is open. */
    async read(path: string): Promise<void> {
      if (opened?.path !== path) await examine(path)
    },
    /** Before folders are listed, renamed or deleted. */
    async leave(): Promise<void> {
      if (opened) await command('UNSELECT')
      opened = undefined
    },
    get isBroken() {
      return wire.isBroken
    },
    close: () => wire.close(),
  }
}

export { Refused }

import { domainOf } from '../lib/mail-address.ts'
import { MINUTE_MS } from '../lib/time.ts'
import { exchange } from '../outbound/exchange.ts'
import type { CurrentMailServers } from './mail-servers.ts'

const DEFAULT_URL = 'http://127.0.0.1:11333'
const TIMEOUT_MS = MINUTE_MS
const MAX_REPLY_BYTES = 4 * 1024 * 1024

/** A message with its envelope, as Rspamd scans it. */
interface Judged {
  sender: string
  recipients: readonly string[]
  clientIp: string | undefined
  /** A login of this host: the IP address of its client need not be one of a mail server. */
  login?: string | undefined
  /** Changes of the configuration for this message; the settings module of Rspamd applies them. */
  settings?: object | undefined
  raw: Buffer
}

export interface Verdict {
  score: number
  action: string
  /** The SMTP reply text of a refusal. */
  text: string | undefined
  /** The virus name that an antivirus reported. */
  virus: string | undefined
  /** An antivirus is configured and did not respond. */
  isUnscanned: boolean
  /** Domains that have proven that the message is theirs, by DKIM, SPF or DMARC. */
  verifiedDomains: string[]
  /** Headers to add to the message. */
  headers: { name: string; value: string }[]
}

export type Rspamd = (message: Judged) => Promise<Verdict>

interface Reply {
  score?: number
  action?: string
  symbols?: Record<string, { options?: string[] }>
  messages?: Record<string, string>
  milter?: { add_headers?: Record<string, unknown> }
}

/** Scans messages with Rspamd; throws when it does not return a result. */
export const rspamd =
  (mailServers: CurrentMailServers): Rspamd =>
  async ({ sender, recipients, clientIp, login, settings, raw }) => {
    const url = new URL('/checkv2', mailServers.current().RSPAMD_URL ?? DEFAULT_URL)
    const { status, text } = await exchange(url, {
      method: 'POST',
      headers: {
        from: `<${ascii(sender)}>`,
        rcpt: recipients.map(ascii),
        ...(clientIp !== undefined && { ip: clientIp }),
        ...(login !== undefined && { user: ascii(login) }),
        ...(settings !== undefined && { settings: JSON.stringify(settings) }),
      },
      body: raw,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_REPLY_BYTES,
    })
    if (status !== 200) throw new Error(`Rspamd answers ${status}: ${text.slice(0, 200)}`)
    const reply = JSON.parse(text) as Reply
    const symbols = Object.entries(reply.symbols ?? {})
    const virus = symbols.find(
      ([name]) => /VIRUS/.test(name) && !/_(FAIL|ENCRYPTED|MACRO)$/.test(name),
    )
    return {
      score: reply.score ?? 0,
      action: reply.action ?? 'no action',
      text: reply.messages?.smtp_message,
      virus: virus && (virus[1].options?.[0] ?? virus[0]),
      isUnscanned: symbols.some(([name]) => /VIRUS_FAIL$/.test(name)),
      verifiedDomains: verifiedIn(reply.symbols ?? {}, sender),
      headers: Object.entries(reply.milter?.add_headers ?? {}).flatMap(headersNamed),
    }
  }

/** The options of the symbols name the domain; SPF is about the domain of the envelope sender. */
function verifiedIn(symbols: NonNullable<Reply['symbols']>, sender: string): string[] {
  const signed = (symbols.R_DKIM_ALLOW?.options ?? []).map((option) => option.split(':')[0] ?? '')
  const aligned = symbols.DMARC_POLICY_ALLOW?.options?.slice(0, 1) ?? []
  const listed = symbols.R_SPF_ALLOW && sender.includes('@') ? [domainOf(sender)] : []
  return [...new Set([...signed, ...aligned, ...listed].map((one) => one.toLowerCase()))]
}

/** Rspamd sends a string, an object with a `value`, or an array of these. */
function headersNamed([name, given]: [string, unknown]): Verdict['headers'] {
  if (Array.isArray(given)) return given.flatMap((one) => headersNamed([name, one]))
  if (typeof given === 'string') return [{ name, value: given }]
  const value = (given as { value?: unknown } | null)?.value
  return typeof value === 'string' ? [{ name, value }] : []
}

const ascii = (address: string) => address.replace(/[^\x21-\x7e]/g, '?')

import { request } from 'undici'
import type { Config } from '../config.ts'

const DEFAULT_URL = 'http://127.0.0.1:11333'
const TIMEOUT_MS = 60_000

/** What Rspamd is told about a message. */
export interface Judged {
  sender: string
  recipients: readonly string[]
  clientIp: string | undefined
  raw: Buffer
}

export interface Verdict {
  score: number
  action: string
  /** What a client is told about a refusal. */
  text: string | undefined
  /** Named by an antivirus. */
  virus: string | undefined
  /** To be put into the message. */
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

/** Throws when there is no judgement. */
export const rspamd =
  (config: Pick<Config, 'RSPAMD_URL'>): Rspamd =>
  async ({ sender, recipients, clientIp, raw }) => {
    const url = new URL('/checkv2', config.RSPAMD_URL ?? DEFAULT_URL)
    const { statusCode, body } = await request(url, {
      method: 'POST',
      headers: [
        ['from', `<${ascii(sender)}>`],
        ...recipients.map((recipient) => ['rcpt', ascii(recipient)]),
        ...(clientIp === undefined ? [] : [['ip', clientIp]]),
      ].flat(),
      body: raw,
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    })
    const text = await body.text()
    if (statusCode !== 200) throw new Error(`Rspamd answers ${statusCode}: ${text.slice(0, 200)}`)
    const reply = JSON.parse(text) as Reply
    const virus = Object.entries(reply.symbols ?? {}).find(([name]) => /VIRUS/.test(name))
    return {
      score: reply.score ?? 0,
      action: reply.action ?? 'no action',
      text: reply.messages?.smtp_message,
      virus: virus && (virus[1].options?.[0] ?? virus[0]),
      headers: Object.entries(reply.milter?.add_headers ?? {}).flatMap(headersNamed),
    }
  }

/** A value, one with its place, or several of either. */
function headersNamed([name, given]: [string, unknown]): Verdict['headers'] {
  if (Array.isArray(given)) return given.flatMap((one) => headersNamed([name, one]))
  if (typeof given === 'string') return [{ name, value: given }]
  const value = (given as { value?: unknown } | null)?.value
  return typeof value === 'string' ? [{ name, value }] : []
}

const ascii = (address: string) => address.replace(/[^\x21-\x7e]/g, '?')

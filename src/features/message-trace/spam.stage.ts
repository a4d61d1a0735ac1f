import type { Config } from '../../config.ts'
import { type Header, headersOf, headerValue, withHeaders } from '../../content/headers.ts'
import { Later } from '../../content/later.ts'
import type { Passing, Stage } from '../../content/stage.ts'
import type { Core } from '../../core.ts'
import type { Rspamd, Verdict } from '../../mail/rspamd.ts'
import type { IpRecorder } from '../reputation/ip-recorder.ts'
import type { QuarantineService } from './quarantine.service.ts'

interface Needs extends Pick<Core, 'db'> {
  config: Pick<Config, 'SPAM_QUARANTINE_SCORE'>
  rspamd: Rspamd
  quarantine: Pick<QuarantineService, 'hold'>
  /** Remembers where spam came from. */
  clients: IpRecorder
}

/** What only Rspamd may say; a sender who says so too is not believed. */
const VERDICT = /^x-(?:spam|spamd|rspamd)(?:-|$)/

/**
 * Asks Rspamd about mail from outside. What it refuses is refused while its sender still listens; what
 * is bad, but not that bad, waits for an operator; the rest goes on with what Rspamd found.
 */
export function spamStage({ clients, config, db, quarantine, rspamd }: Needs): Stage {
  const noteSpam = ({ clientIp }: Passing) => {
    if (clientIp !== undefined) clients.mail(clientIp, { spam: 1 })
  }

  const hold = (message: Passing, verdict: Verdict) =>
    db.transaction().execute(async (tx) => {
      const headers = headersOf(message.raw)
      for (const recipient of message.recipients) {
        await quarantine.hold(tx, {
          organization_id: message.organizationId,
          message_id: headerValue(headers, 'message-id')?.slice(0, 255) ?? null,
          queue_id: null,
          sender: message.sender,
          recipient,
          subject: subjectOf(headers),
          reason: verdict.virus === undefined ? 'spam' : 'virus',
          spam_score: verdict.score,
          virus_name: verdict.virus ?? null,
          headers: shown(headers),
          content: message.raw,
        })
      }
    })

  return {
    name: 'spam',
    async apply(message) {
      if (message.direction !== 'inbound') return { kind: 'pass', messages: [message] }
      const verdict = await rspamd(message)
      if (verdict.action === 'reject') {
        noteSpam(message)
        return { kind: 'reject', text: verdict.text ?? 'the message looks like spam' }
      }
      if (verdict.action === 'soft reject') {
        throw new Later(verdict.text ?? 'try again later')
      }
      const limit = config.SPAM_QUARANTINE_SCORE
      const isBad = verdict.virus !== undefined || verdict.score >= limit
      if (limit === 0 || !isBad) {
        const isMarked = ['add header', 'rewrite subject'].includes(verdict.action)
        return { kind: 'pass', messages: [withVerdict(message, verdict, isMarked)] }
      }
      noteSpam(message)
      // Whoever lets it go does not want it to end among the spam.
      await hold(withVerdict(message, verdict, false), verdict)
      return { kind: 'held' }
    },
    stop: clients.stop,
  }
}

/** As Rspamd's milter would: its headers on top, and the word that filters of mailboxes look for. */
function withVerdict(message: Passing, verdict: Verdict, isMarked: boolean): Passing {
  const added = [...verdict.headers, ...(isMarked ? [{ name: 'X-Spam', value: 'Yes' }] : [])]
  const others = headersOf(message.raw).filter(({ name }) => !VERDICT.test(name))
  const headers = [
    ...added.map(({ name, value }) => ({
      name: name.toLowerCase(),
      line: `${name}: ${value.replace(/\r?\n(?![ \t])/g, ' ').replace(/\r?\n/g, '\r\n')}`,
    })),
    ...others,
  ]
  return { ...message, raw: withHeaders(message.raw, headers) }
}

const utf8 = (bytes: string) => Buffer.from(bytes, 'latin1').toString('utf8').replaceAll('\0', '')

const subjectOf = (headers: readonly Header[]): string | null => {
  const subject = headerValue(headers, 'subject')
  return subject === undefined ? null : utf8(subject).slice(0, 1000)
}

const SHOWN = ['from', 'to', 'cc', 'subject', 'date', 'message-id', 'reply-to', 'received']

/** For whoever decides about it; of several, the topmost, which is of the server nearest to us. */
const shown = (headers: readonly Header[]): Record<string, string> =>
  Object.fromEntries(
    [...SHOWN, 'x-spam', 'x-spamd-result', 'x-spam-status'].flatMap((name) => {
      const value = headerValue(headers, name)
      return value === undefined ? [] : [[name, utf8(value).slice(0, 2000)]]
    }),
  )

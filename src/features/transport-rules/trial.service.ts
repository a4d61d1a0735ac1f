import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { TooMuchWork } from '../../errors.ts'
import { isHeaderTooLong } from '../../mime/headers.ts'
import { MimeMessage } from '../../mime/message.ts'
import { encodeWords } from '../../mime/words.ts'
import { decide, ruleSet } from './engine.ts'
import { enabledOf } from './transport-rules.repository.ts'
import type { TransportRuleService } from './transport-rules.service.ts'

const TIME_LIMIT_MS = 5000
// A response has at most 1 MB.
const MAX_LISTED_BYTES = 400_000
const MAX_SHOWN_BYTES = 400_000
const MAX_NOTES = 20

interface SentTrial {
  organization_id?: string
  direction?: 'inbound' | 'outbound'
  sender: string
  recipients: string[]
  subject?: string
  message?: string
}

interface Needs extends Pick<Core, 'db' | 'vault' | 'workers'> {
  rules: Pick<TransportRuleService, 'ownerOf'>
}

export type TrialService = ReturnType<typeof trialService>

/** Runs the rules on a message without storing or sending anything. */
export const trialService = ({ db, vault, workers, rules: { ownerOf } }: Needs) => ({
  async run(caller: Caller, sent: SentTrial) {
    const organizationId = await ownerOf(caller, sent.organization_id)
    const direction = sent.direction ?? 'outbound'
    const raw = rawOf(sent)
    // The content filter refuses such a message too.
    if (isHeaderTooLong(raw)) throw new TooMuchWork()
    const set = ruleSet(await enabledOf(db, organizationId), direction)
    const decision = await decide(
      set,
      {
        direction,
        organizationId,
        sender: sent.sender,
        recipients: sent.recipients,
        login: undefined,
        clientIp: undefined,
        message: new MimeMessage(raw),
      },
      { timeLimitMs: TIME_LIMIT_MS, vault, workers },
    )
    const { matched, parcels, refusal } = decision
    const isHeld = parcels.some(({ held }) => held)
    const outcome = refusal !== undefined ? 'reject' : isHeld ? 'quarantine' : 'pass'
    const listed = matched.reduce((sum, { recipients }) => sum + sizeOf(recipients), 0)
    const copies = parcels.reduce((sum, { mail }) => sum + sizeOf(mail.recipients), 0)
    if (listed + copies > MAX_LISTED_BYTES) throw new TooMuchWork()
    const shown = MAX_SHOWN_BYTES / Math.max(1, parcels.length)
    return {
      outcome: outcome as 'reject' | 'quarantine' | 'pass',
      reject_message: refusal ?? null,
      rules: set.rules.map(({ id, name }) => {
        const recipients = matched.find(({ rule }) => rule.id === id)?.recipients ?? []
        return { id, name, matched: recipients.length > 0, recipients }
      }),
      messages: parcels.map(({ mail, held, notes }) => ({
        recipients: [...mail.recipients],
        quarantined: held !== undefined,
        notes: notes.slice(0, MAX_NOTES),
        ...beginning(mail.message.raw, shown),
      })),
    }
  },
})

const sizeOf = (recipients: readonly string[]) =>
  recipients.reduce((sum, { length }) => sum + length + 3, 0)

/** The beginning of the message, cut to the size of a response. */
function beginning(raw: Buffer, bytes: number): { message: string; truncated: boolean } {
  const whole = raw.length <= bytes ? raw.toString('utf8') : undefined
  if (whole !== undefined && Buffer.byteLength(JSON.stringify(whole)) <= bytes) {
    return { message: whole, truncated: false }
  }
  // A control character takes six bytes in JSON.
  return { message: raw.toString('utf8', 0, Math.floor(bytes / 6)), truncated: true }
}

function rawOf({ message, sender, recipients, subject = '' }: SentTrial): Buffer {
  if (message !== undefined) return Buffer.from(message.replace(/\r\n|\r|\n/g, '\r\n'))
  const oneLine = (text: string) => text.replace(/[\r\n]+/g, ' ')
  const fields = [
    `From: ${oneLine(sender)}`,
    `To: ${oneLine(recipients.join(', '))}`,
    `Subject: ${encodeWords(oneLine(subject))}`,
  ]
  return Buffer.from(`${fields.join('\r\n')}\r\n\r\n`)
}

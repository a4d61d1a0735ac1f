import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { encodeWords } from '../../lib/encoded-words.ts'
import { decide } from './engine.ts'
import { compileRule } from './matching.ts'
import { enabledOf } from './transport-rules.repository.ts'
import type { TransportRuleService } from './transport-rules.service.ts'

interface SentTrial {
  organization_id?: string
  direction?: 'inbound' | 'outbound'
  sender: string
  recipients: string[]
  subject?: string
  message?: string
}

interface Needs extends Pick<Core, 'db' | 'vault'> {
  rules: Pick<TransportRuleService, 'ownerOf'>
}

export type TrialService = ReturnType<typeof trialService>

/** What the rules would do, by the very code that does it; nothing is stored or sent. */
export const trialService = ({ db, vault, rules: { ownerOf } }: Needs) => ({
  async run(caller: Caller, sent: SentTrial) {
    const organizationId = await ownerOf(caller, sent.organization_id)
    const direction = sent.direction ?? 'outbound'
    const rules = (await enabledOf(db, organizationId))
      .filter((rule) => rule.direction === 'both' || rule.direction === direction)
      .map(compileRule)
    const decision = await decide(
      rules,
      {
        direction,
        organizationId,
        sender: sent.sender,
        recipients: sent.recipients,
        login: undefined,
        clientIp: undefined,
        raw: rawOf(sent),
      },
      vault,
    )
    const { matched, parcels, refusal } = decision
    const isHeld = parcels.some(({ held }) => held)
    const outcome = refusal !== undefined ? 'reject' : isHeld ? 'quarantine' : 'pass'
    return {
      outcome: outcome as 'reject' | 'quarantine' | 'pass',
      reject_message: refusal ?? null,
      rules: rules.map(({ id, name }) => {
        const recipients = matched.find(({ rule }) => rule.id === id)?.recipients ?? []
        return { id, name, matched: recipients.length > 0, recipients }
      }),
      messages: parcels.map(({ message, held, notes }) => ({
        recipients: [...message.recipients],
        quarantined: held !== undefined,
        notes,
        message: message.raw.toString('utf8'),
      })),
    }
  },
})

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

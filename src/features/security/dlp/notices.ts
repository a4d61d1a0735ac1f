import type { Mail } from '../../../content/stage.ts'
import type { Core } from '../../../core.ts'
import { brandOf, signatureOf } from '../../../hosting/brand.repository.ts'
import { onceEvery } from '../../../lib/once-every.ts'
import { MINUTE_MS } from '../../../lib/time.ts'
import type { PolicyRow } from './policies.repository.ts'
import { administratorsOf } from './policies.repository.ts'

const PAUSE_MS = 5 * MINUTE_MS
const MAX_POLICIES = 10_000

/**
 * Sends mail to the administrators of an organization, at most one per policy in five minutes; the list
 * of violations has all of them. The notice never contains the matched text.
 */
export function notices({ db, log, mailer, now }: Pick<Core, 'db' | 'log' | 'mailer' | 'now'>) {
  const isDue = onceEvery(PAUSE_MS, MAX_POLICIES)
  const pending = new Set<Promise<void>>()

  async function send(policy: PolicyRow, mail: Mail, messageId: string | null) {
    try {
      const to = await administratorsOf(db, mail.organizationId)
      if (to.length === 0) return
      const brand = await brandOf(db, mail.organizationId)
      await mailer.send({
        to,
        fromName: brand.brand_name,
        subject: 'A message violates a data protection policy',
        text: [
          `Policy: ${policy.name} (severity ${policy.severity})`,
          `Direction: ${mail.direction}`,
          `Sender: ${mail.sender}`,
          `Recipients: ${mail.recipients.slice(0, 20).join(', ')}`,
          `Message-ID: ${messageId ?? 'none'}`,
          '',
          'The message was not held up by this policy.',
          'Further ones within five minutes are only listed.',
          ...signatureOf(brand),
        ].join('\n'),
      })
    } catch (error) {
      log.warn({ err: error, policyId: policy.id }, 'sending the notice of a DLP violation failed')
    }
  }

  return {
    add(policy: PolicyRow, mail: Mail, messageId: string | null): void {
      if (!isDue(String(policy.id), now().getTime())) return
      const sending = send(policy, mail, messageId).finally(() => pending.delete(sending))
      pending.add(sending)
    },
    async settled(): Promise<void> {
      await Promise.all(pending)
    },
  }
}

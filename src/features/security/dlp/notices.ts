import type { Passing } from '../../../content/stage.ts'
import type { Core } from '../../../core.ts'
import { administratorsOf } from './policies.repository.ts'
import type { CompiledPolicy } from './scanning.ts'

const QUIET_MS = 5 * 60_000
const MAX_REMEMBERED = 10_000

/**
 * Mail to the administrators of an organization, about one message for each policy in five minutes:
 * the others are in the list of violations. What was found is not in it.
 */
export function notices({ db, log, mailer, now }: Pick<Core, 'db' | 'log' | 'mailer' | 'now'>) {
  const last = new Map<number, number>()
  const underWay = new Set<Promise<void>>()

  async function send(policy: CompiledPolicy, message: Passing, messageId: string | null) {
    try {
      const to = await administratorsOf(db, message.organizationId)
      if (to.length === 0) return
      await mailer.send({
        to,
        subject: 'A message violates a data protection policy',
        text: [
          `Policy: ${policy.name} (severity ${policy.severity})`,
          `Direction: ${message.direction}`,
          `Sender: ${message.sender}`,
          `Recipients: ${message.recipients.slice(0, 20).join(', ')}`,
          `Message-ID: ${messageId ?? 'none'}`,
          '',
          'The message was not held up by this policy.',
          'Further ones within five minutes are only listed.',
        ].join('\n'),
      })
    } catch (error) {
      log.warn({ err: error, policyId: policy.id }, 'the notice of a violation was not sent')
    }
  }

  return {
    add(policy: CompiledPolicy, message: Passing, messageId: string | null): void {
      const at = now().getTime()
      if (at - (last.get(policy.id) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return
      if (last.size >= MAX_REMEMBERED) last.clear()
      last.set(policy.id, at)
      const sending = send(policy, message, messageId).finally(() => underWay.delete(sending))
      underWay.add(sending)
    },
    async settled(): Promise<void> {
      await Promise.all(underWay)
    },
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import { Later } from '../../../content/later.ts'
import type { Stage } from '../../../content/stage.ts'
import type { Core } from '../../../core.ts'
import { domainOf } from '../../../lib/mail-address.ts'
import { hostedAmong } from './hosted.repository.ts'
import { pacingService } from './pacing.service.ts'

// However many destinations a message has, it does not wait longer than its sender would.
const LONGEST_WAIT_MS = 10_000

/** Keeps outgoing mail to what its destinations put up with. While nobody can say, it goes. */
export function pacingStage(core: Pick<Core, 'config' | 'db' | 'events' | 'log' | 'now'>): Stage {
  const pacing = pacingService(core)

  async function destinationsOf(recipients: readonly string[]): Promise<string[]> {
    const names = [...new Set(recipients.map((recipient) => domainOf(recipient).toLowerCase()))]
    const hosted = await hostedAmong(core.db, names)
    return names.filter((name) => !hosted.has(name))
  }

  return {
    name: 'pacing',
    async apply(message) {
      const passed = { kind: 'pass', messages: [message] } as const
      if (!core.config.DELIVERY_OPTIMIZER_ENABLED || message.direction !== 'outbound') return passed
      try {
        const organization_id = message.organizationId
        const questions = (await destinationsOf(message.recipients)).map((recipient_domain) => ({
          recipient_domain,
          organization_id,
        }))
        let wait = 0
        for (const question of questions) {
          const answer = await pacing.check(question)
          if ('reason' in answer) throw new Later(answer.reason)
          wait = Math.max(wait, answer.delay_ms ?? 0)
        }
        if (wait > 0) await sleep(Math.min(wait, LONGEST_WAIT_MS))
        for (const question of questions) await pacing.record(question)
      } catch (error) {
        if (error instanceof Later) throw error
        core.log.warn({ err: error }, 'mail goes out without being paced')
      }
      return passed
    },
  }
}

import { keptPerOrganization } from '../../content/kept.ts'
import type { Outcome, Passing, Stage } from '../../content/stage.ts'
import type { Core } from '../../core.ts'
import { type QuarantineService, quarantineService } from '../message-trace/quarantine.service.ts'
import { type Decision, decide, type Parcel } from './engine.ts'
import { hitCounter } from './hits.ts'
import { compileRule } from './matching.ts'
import { enabledOf } from './transport-rules.repository.ts'

export interface TransportRulesStage extends Stage {
  /** Stores what was counted so far. */
  flush(): Promise<void>
  /** Stores what was counted, and hears of no more changes. */
  stop(): Promise<void>
}

/** Does to passing mail what its organization's rules say. */
export function transportRulesStage(core: Core): TransportRulesStage {
  const { db, log, vault } = core
  const quarantine = quarantineService(core)
  const hits = hitCounter(core)
  const kept = keptPerOrganization(core, 'mailplane_transport_rules', async (organizationId) =>
    (await enabledOf(db, organizationId)).map(compileRule),
  )

  /** All that is kept back of one message, or nothing of it. */
  const hold = (parcels: Parcel[], { about }: Decision) =>
    db.transaction().execute(async (tx) => {
      for (const { message, held } of parcels) {
        if (held) await holdFor(quarantine, tx, message, held, about)
      }
    })

  return {
    name: 'transport-rules',
    async apply(message: Passing): Promise<Outcome> {
      const all = await kept.of(message.organizationId)
      const rules = all.filter(
        ({ direction }) => direction === 'both' || direction === message.direction,
      )
      if (rules.length === 0) return { kind: 'pass', messages: [message] }
      const decision = await decide(rules, message, vault)
      const { about, matched, parcels, refusal } = decision
      if (matched.length === 0) return { kind: 'pass', messages: [message] }
      const held = parcels.filter((parcel) => parcel.held)
      if (held.length > 0) await hold(held, decision)
      for (const { rule } of matched) hits.add(rule, about.messageId)
      const notes = parcels.flatMap((parcel) => parcel.notes)
      if (notes.length > 0) {
        const { organizationId } = message
        log.info({ organizationId, messageId: about.messageId, notes }, 'transport rules left out')
      }
      if (refusal !== undefined) return { kind: 'reject', text: refusal }
      const messages = parcels.filter((parcel) => !parcel.held).map((parcel) => parcel.message)
      return messages.length === 0 ? { kind: 'held' } : { kind: 'pass', messages }
    },
    flush: () => hits.flush(),
    async stop() {
      await hits.stop()
      await kept.close()
    },
  }
}

/** One entry for each recipient: each may be let out alone. */
async function holdFor(
  quarantine: QuarantineService,
  tx: Parameters<QuarantineService['hold']>[0],
  message: Passing,
  { rule, reason }: NonNullable<Parcel['held']>,
  about: Decision['about'],
): Promise<void> {
  for (const recipient of message.recipients) {
    await quarantine.hold(tx, {
      organization_id: message.organizationId,
      message_id: about.messageId,
      queue_id: null,
      sender: message.sender,
      recipient,
      subject: about.subject,
      reason: 'transport_rule',
      rule_id: rule.id,
      headers: {
        from: about.header('from')[0] ?? null,
        to: about.header('to')[0] ?? null,
        date: about.header('date')[0] ?? null,
        ...(reason !== undefined && { reason }),
      },
      content: message.raw,
    })
  }
}

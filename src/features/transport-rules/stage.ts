import { settingsPerOrganization } from '../../content/settings-cache.ts'
import type { Mail, Outcome, Stage } from '../../content/stage.ts'
import type { Core } from '../../core.ts'
import { quarantineService } from '../message-trace/quarantine.service.ts'
import { decide, type Parcel, ruleSet } from './engine.ts'
import { hitCounter } from './hits.ts'
import { enabledOf } from './transport-rules.repository.ts'

const TIME_LIMIT_MS = 10_000

export interface TransportRulesStage extends Stage {
  /** Stores the hits counted so far. */
  flush(): Promise<void>
  /** Stores the hits and stops listening for changes. */
  stop(): Promise<void>
}

/** Applies the transport rules of the organization to passing mail. */
export function transportRulesStage(core: Core): TransportRulesStage {
  const { db, log } = core
  const quarantine = quarantineService(core)
  const hits = hitCounter(core)
  const rulesCache = settingsPerOrganization(
    core,
    'mailplane_transport_rules',
    async (organizationId) => {
      const all = await enabledOf(db, organizationId)
      return { inbound: ruleSet(all, 'inbound'), outbound: ruleSet(all, 'outbound') }
    },
  )

  /** One transaction: all parcels of a message are held or none. */
  const hold = (parcels: Parcel[]) =>
    db.transaction().execute(async (tx) => {
      for (const { mail, held } of parcels) {
        if (!held) continue
        const { rule, reason: note } = held
        await quarantine.holdMail(tx, mail, { reason: 'transport_rule', rule_id: rule.id, note })
      }
    })

  return {
    name: 'transport-rules',
    async apply(mail: Mail): Promise<Outcome> {
      const { [mail.direction]: set } = await rulesCache.of(mail.organizationId)
      if (set.rules.length === 0) return { kind: 'pass', mails: [mail] }
      const decision = await decide(set, mail, { ...core, timeLimitMs: TIME_LIMIT_MS })
      const { matched, parcels, refusal } = decision
      if (matched.length === 0) return { kind: 'pass', mails: [mail] }
      const held = parcels.filter((parcel) => parcel.held)
      if (held.length > 0) await hold(held)
      const { messageId } = mail.message
      for (const { rule } of matched) hits.add(rule, messageId)
      const notes = parcels.flatMap((parcel) => parcel.notes)
      if (notes.length > 0) {
        const { organizationId } = mail
        log.info({ organizationId, messageId, notes }, 'actions of transport rules left out')
      }
      if (refusal !== undefined) return { kind: 'reject', text: refusal }
      const mails = parcels.filter((parcel) => !parcel.held).map((parcel) => parcel.mail)
      return mails.length === 0 ? { kind: 'held' } : { kind: 'pass', mails }
    },
    flush: () => hits.flush(),
    async stop() {
      await hits.stop()
      await rulesCache.close()
    },
  }
}

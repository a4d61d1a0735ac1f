import type { Core } from '../../../core.ts'
import type { Tx } from '../../../database/database.ts'
import { organizationLimit, quotaConfiguration } from '../../../hosting/quota-configuration.ts'
import { percent } from '../../../lib/percent.ts'
import { crossing, levelOf, NOTHING_TOLD } from '../alert-level.ts'
import { QuotaExceeded, QuotaWarning } from '../storage.events.ts'
import type { DomainStorage, MailboxStorage } from '../storage.repository.ts'
import * as alerts from './alerts.repository.ts'

interface Subject extends alerts.Entity {
  organization_id: string
  domain: string
  used: number
  quotas: ReturnType<typeof quotaConfiguration>
}

export const mailboxQuotas = (row: MailboxStorage, config: Core['config']) =>
  quotaConfiguration(
    {
      settings: [row.storage_quotas, row.domain_quotas, row.organization_quotas],
      limits: [row.storage_quota, row.max_quota, organizationLimit(row.organization_quotas) ?? 0],
    },
    config,
  )

export const domainQuotas = (row: DomainStorage, config: Core['config']) =>
  quotaConfiguration(
    {
      settings: [row.storage_quotas, row.organization_quotas],
      limits: [row.max_quota, organizationLimit(row.organization_quotas) ?? 0],
    },
    config,
  )

/** Emits alerts for mailboxes and domains near their limits, in the transaction of the change. */
export async function tellCrossings(
  { config, events, now }: Pick<Core, 'config' | 'events' | 'now'>,
  tx: Tx,
  { mailboxes, domains }: { mailboxes: MailboxStorage[]; domains: DomainStorage[] },
) {
  const names = new Map(domains.map(({ id, domain }) => [id, domain]))
  const subjects: Subject[] = [
    ...mailboxes.map((row) => ({
      entity_type: 'mailbox' as const,
      identifier: row.email,
      organization_id: row.organization_id,
      domain: names.get(row.domain_id) ?? '',
      used: row.storage_used,
      quotas: mailboxQuotas(row, config),
    })),
    ...domains.map((row) => ({
      entity_type: 'domain' as const,
      identifier: row.domain,
      organization_id: row.organization_id,
      domain: row.domain,
      used: row.total_storage_used,
      quotas: domainQuotas(row, config),
    })),
  ]
  if (subjects.length === 0) return
  const known = await alerts.find(tx, subjects)
  for (const subject of subjects) {
    const { entity_type, identifier, organization_id, quotas, used } = subject
    const level = levelOf(used, quotas.total_storage_limit, quotas)
    const before = known(subject)
    if (before === undefined && level === 'none') continue
    const { after, tell } = crossing(
      before ?? NOTHING_TOLD,
      level,
      now(),
      config.STORAGE_ALERT_COOLDOWN,
    )
    if (before === undefined || after.told !== before.told || tell) {
      await alerts.save(tx, { entity_type, identifier, organization_id }, after, now())
    }
    if (tell) await emit(subject, level === 'critical')
  }

  async function emit({ quotas, used, ...subject }: Subject, isCritical: boolean) {
    const limit = quotas.total_storage_limit ?? 0
    await events.emit(
      tx,
      isCritical ? QuotaExceeded : QuotaWarning,
      { org_id: subject.organization_id, domain: subject.domain },
      {
        entity_type: subject.entity_type,
        identifier: subject.identifier,
        storage_type: subject.entity_type === 'mailbox' ? 'mailbox' : 'total',
        current_usage: used,
        quota_limit: limit,
        usage_percentage: percent(used, limit),
        threshold_percent: isCritical ? quotas.critical_threshold : quotas.warning_threshold,
        alert_level: !isCritical ? 'warning' : used >= limit ? 'exceeded' : 'critical',
      },
    )
  }
}

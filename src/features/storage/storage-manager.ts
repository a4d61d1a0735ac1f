import type { Static } from 'typebox'
import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { percent } from '../../lib/percent.ts'
import { levelOf } from './alert-level.ts'
import * as history from './history/history.repository.ts'
import type { HistoryService } from './history/history.service.ts'
import { StorageOwnerNotFound } from './storage.errors.ts'
import * as storage from './storage.repository.ts'
import type { DomainQuotaChange, MailboxQuotaChange } from './storage.schemas.ts'
import type { StorageService } from './storage.service.ts'
import { domainQuotas, mailboxQuotas, tellCrossings } from './usage/alerts.ts'
import type { EntityType } from './usage/kinds.ts'

const CHILDREN = 1000
const platform = { scope: 'platform' } as const

type Config = Static<typeof DomainQuotaChange> & Static<typeof MailboxQuotaChange>
type Measured = 'domain' | 'mailbox'

interface Needs extends Pick<Core, 'config' | 'db' | 'events' | 'now'> {
  service: StorageService
  histories: HistoryService
}

export type StorageManager = ReturnType<typeof storageManager>

/** Answers other services of the installation about any tenant. */
export function storageManager({ config, db, events, now, service, histories }: Needs) {
  async function rowsOf(type: Measured, identifier: string) {
    const domain = type === 'domain' ? await storage.findDomain(db, 'platform', identifier) : null
    const mailbox =
      type === 'mailbox' ? await storage.findMailbox(db, 'platform', identifier) : null
    if (!domain && !mailbox) throw new StorageOwnerNotFound()
    return { domains: domain ? [domain] : [], mailboxes: mailbox ? [mailbox] : [] }
  }

  async function usage(type: EntityType, identifier: string) {
    const owner = await histories.find(platform, type, identifier)
    const { by_type, ...more } = await histories.usage(owner)
    return {
      entity_type: type,
      identifier: owner.identifier,
      usage: by_type,
      ...more,
      calculated_at: owner.last_calculated_at,
    }
  }

  return {
    usage,

    async hierarchy(type: EntityType, identifier: string) {
      const owner = await histories.find(platform, type, identifier)
      return {
        ...(await usage(type, owner.identifier)),
        children: await histories.children(owner, CHILDREN),
      }
    },

    calculate: (caller: Caller, type: Measured, identifier: string) =>
      type === 'domain'
        ? service.usageOfDomain(caller, identifier, true)
        : service.usageOfMailbox(caller, identifier, true),

    /** Says whether a mailbox has room, for gates before a delivery. */
    async quotaCheck(email: string, bytes: number) {
      const owner = await histories.find(platform, 'mailbox', email)
      const used = (await history.usedBytes(db, { type: 'mailbox', id: owner.id })).mailbox ?? 0
      const { quota } = owner
      return {
        email: owner.identifier,
        allowed: quota === null || used + bytes <= quota,
        used_bytes: used,
        quota_bytes: quota,
        remaining_bytes: quota === null ? null : Math.max(0, quota - used),
        usage_percentage: percent(used, quota ?? 0),
      }
    },

    /** Evaluates the alert now, with its event when a threshold was crossed. */
    async alert(type: Measured, identifier: string) {
      const rows = await rowsOf(type, identifier.toLowerCase())
      await db.transaction().execute((tx) => tellCrossings({ config, events, now }, tx, rows))
      const [{ used, quotas }] = [
        ...rows.domains.map((row) => ({
          used: row.total_storage_used,
          quotas: domainQuotas(row, config),
        })),
        ...rows.mailboxes.map((row) => ({
          used: row.storage_used,
          quotas: mailboxQuotas(row, config),
        })),
      ] as [{ used: number; quotas: ReturnType<typeof domainQuotas> }]
      const limit = quotas.total_storage_limit
      const level = levelOf(used, limit, quotas)
      return {
        entity_type: type,
        identifier: identifier.toLowerCase(),
        alert_level: level === 'critical' && used >= (limit ?? 0) ? 'exceeded' : level,
        usage_percentage: percent(used, limit ?? 0),
        used_bytes: used,
        quota_bytes: limit,
      }
    },

    config: (caller: Caller, type: Measured, identifier: string) =>
      type === 'domain'
        ? service.quotasOfDomain(caller, identifier)
        : service.quotasOfMailbox(caller, identifier),

    setConfig: (caller: Caller, type: Measured, identifier: string, sent: Config) => {
      const { quota_mb, domain_quota_mb, default_mailbox_quota_mb, ...common } = sent
      return type === 'domain'
        ? service.setQuotasOfDomain(
            caller,
            identifier,
            {
              ...common,
              ...(domain_quota_mb !== undefined && { domain_quota_mb }),
              ...(default_mailbox_quota_mb !== undefined && { default_mailbox_quota_mb }),
            },
            false,
          )
        : service.setQuotasOfMailbox(
            caller,
            identifier,
            { ...common, ...(quota_mb !== undefined && { quota_mb }) },
            false,
          )
    },

    async stats() {
      const [bytes, over, full, pending_age_seconds] = await Promise.all([
        history.usedBytes(db),
        history.mailboxesOver(db),
        history.mailboxesFull(db),
        history.pendingAge(db),
      ])
      const { warning = 0, critical = 0 } = over
      return {
        used_bytes: bytes,
        mailboxes_over: { warning, critical, exceeded: full },
        pending_age_seconds,
      }
    },
  }
}

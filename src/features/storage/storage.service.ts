import type { Static } from 'typebox'
import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { ServiceUnavailable } from '../../errors.ts'
import { bytesOf } from '../../hosting/quota-configuration.ts'
import { toDomainName } from '../../lib/domain-name.ts'
import { toMailAddress } from '../../lib/mail-address.ts'
import { percent } from '../../lib/percent.ts'
import { DoveadmAway } from '../../mail/doveadm.ts'
import { DomainNotFound } from '../domains/domains.errors.ts'
import type { DomainService } from '../domains/domains.service.ts'
import type { MailboxService } from '../mailboxes/mailboxes.service.ts'
import { MailboxNotFound, NoQuotaSent, UsageNotFound } from './storage.errors.ts'
import * as storage from './storage.repository.ts'
import type { DomainQuotaChange, MailboxQuotaChange } from './storage.schemas.ts'
import { domainQuotas, mailboxQuotas } from './usage/alerts.ts'
import { measureDomain, measureMailbox } from './usage/measure.ts'

interface Needs extends Pick<Core, 'config' | 'db' | 'doveadm' | 'events' | 'log' | 'now'> {
  domains: Pick<DomainService, 'mergeQuotas'>
  mailboxes: Pick<MailboxService, 'edit'>
}

export type StorageService = ReturnType<typeof storageService>

export function storageService(needs: Needs) {
  const { config, db, domains, doveadm, log, mailboxes, now } = needs
  const answer = <Type extends 'domain' | 'mailbox'>(entity_type: Type, identifier: string) => ({
    success: true as const,
    entity_type,
    identifier,
    timestamp: now().toISOString(),
  })

  async function findDomain({ scope }: Pick<Caller, 'scope'>, sent: string) {
    const row = await storage.findDomain(db, scope, toDomainName(sent) ?? '')
    if (!row) throw new DomainNotFound()
    return row
  }
  async function findMailbox({ scope }: Pick<Caller, 'scope'>, sent: string) {
    const row = await storage.findMailbox(db, scope, toMailAddress(sent)?.address ?? '')
    if (!row) throw new MailboxNotFound()
    return row
  }

  /**
   * Measures on request and when there is no figure yet; otherwise returns the figure that Dovecot
   * wrote last.
   */
  async function counted<Result>(
    row: { last_storage_calculation: string | null },
    force: boolean,
    count: () => Promise<Result>,
  ): Promise<Result | undefined> {
    if (!force && (row.last_storage_calculation !== null || !doveadm.isConfigured)) return undefined
    try {
      return await count()
    } catch (error) {
      if (!(error instanceof DoveadmAway)) throw error
      log.warn({ err: error }, 'measuring usage failed')
      throw new ServiceUnavailable('Storage service unavailable')
    }
  }

  return {
    async usageOfDomain(caller: Caller, name: string, force: boolean) {
      const before = await findDomain(caller, name)
      const complete = await counted(before, force, () => measureDomain(needs, before.id))
      const row = complete === undefined ? before : await findDomain(caller, before.domain)
      if (row.last_storage_calculation === null && row.total_storage_used === 0) {
        throw new UsageNotFound()
      }
      const { total_storage_limit } = domainQuotas(row, config)
      return {
        ...answer('domain', row.domain),
        usage: {
          used_bytes: row.total_storage_used,
          email_bytes: row.total_email_storage,
          attachment_bytes: row.total_attachment_storage,
          quota_bytes: total_storage_limit,
          usage_percentage: percent(row.total_storage_used, total_storage_limit ?? 0),
          total_emails: row.total_emails,
          total_attachments: row.total_attachments,
          total_email_accounts: row.total_email_accounts,
          last_calculated_at: row.last_storage_calculation,
          calculation_time_ms: row.storage_calculation_time_ms,
          complete: complete ?? true,
        },
      }
    },

    async usageOfMailbox(caller: Caller, email: string, force: boolean) {
      const before = await findMailbox(caller, email)
      const begun = Date.now()
      const isCounted = await counted(before, force, () => measureMailbox(needs, before.email))
      const spent = Date.now() - begun
      const row = isCounted ? await findMailbox(caller, before.email) : before
      if (row.last_storage_calculation === null && row.storage_used === 0) throw new UsageNotFound()
      const { total_storage_limit } = mailboxQuotas(row, config)
      return {
        ...answer('mailbox', row.email),
        usage: {
          used_bytes: row.storage_used,
          email_bytes: row.email_storage_used,
          attachment_bytes: row.attachment_storage_used,
          quota_bytes: total_storage_limit,
          usage_percentage: percent(row.storage_used, total_storage_limit ?? 0),
          total_emails: row.total_emails,
          total_attachments: row.total_attachments,
          total_files: row.total_files,
          last_calculated_at: row.last_storage_calculation,
          calculation_time_ms: isCounted ? spent : null,
        },
      }
    },

    async quotasOfDomain(caller: Caller, name: string) {
      const row = await findDomain(caller, name)
      return {
        ...answer('domain', row.domain),
        quota_configuration: domainQuotas(row, config),
        default_mailbox_quota_mb: defaultOf(row.storage_quotas),
      }
    },

    async quotasOfMailbox(caller: Caller, email: string) {
      const row = await findMailbox(caller, email)
      return {
        ...answer('mailbox', row.email),
        quota_configuration: mailboxQuotas(row, config),
      }
    },

    async setQuotasOfDomain(
      caller: Caller,
      name: string,
      sent: Static<typeof DomainQuotaChange>,
      force: boolean,
    ) {
      const found = await findDomain(caller, name)
      const { domain_quota_mb: megabytes, default_mailbox_quota_mb: usual } = sent
      refuseEmpty(sent, 'domain_quota_mb, default_mailbox_quota_mb, warning_threshold_percent')
      const { row, cacheFlushed } = await domains.mergeQuotas(
        caller,
        found.id,
        {
          ...(megabytes !== undefined && { max_quota: bytesOf(megabytes) }),
          settings: {
            ...(usual !== undefined && { default_mailbox_quota_mb: usual }),
            ...threshold(sent),
          },
        },
        force,
      )
      const after = await findDomain({ scope: 'platform' }, row.domain)
      return {
        ...answer('domain', row.domain),
        quota_configuration: domainQuotas(after, config),
        default_mailbox_quota_mb: defaultOf(after.storage_quotas),
        quota_override: row.quota_override,
        cache_flushed: cacheFlushed,
      }
    },

    async setQuotasOfMailbox(
      caller: Caller,
      email: string,
      sent: Static<typeof MailboxQuotaChange>,
      force: boolean,
    ) {
      const found = await findMailbox(caller, email)
      refuseEmpty(sent, 'quota_mb, warning_threshold_percent')
      const { row, cacheFlushed } = await mailboxes.edit(caller, found.id, {
        ...(sent.quota_mb !== undefined && { fields: { storage_quota: bytesOf(sent.quota_mb) } }),
        mergedQuotas: threshold(sent),
        force,
      })
      const after = await findMailbox({ scope: 'platform' }, row.email)
      return {
        ...answer('mailbox', row.email),
        quota_configuration: mailboxQuotas(after, config),
        quota_override: row.quota_override,
        cache_flushed: cacheFlushed || found.storage_quota === row.storage_quota,
      }
    },

    async summary() {
      const sums = await storage.summary(db)
      return { ...sums, usage_percentage: percent(sums.total_storage_used, sums.total_quota) }
    },

    findDomain,
  }
}

const threshold = (sent: { warning_threshold_percent?: number }) =>
  sent.warning_threshold_percent === undefined
    ? {}
    : { warning_threshold: sent.warning_threshold_percent }

const defaultOf = (settings: object) => {
  const { default_mailbox_quota_mb: megabytes } = settings as { default_mailbox_quota_mb?: unknown }
  return Number.isSafeInteger(megabytes) ? (megabytes as number) : null
}

function refuseEmpty(sent: object, fields: string): void {
  if (Object.values(sent).every((value) => value === undefined)) throw new NoQuotaSent(fields)
}

import type { Caller } from '../../access/caller.ts'
import { narrowed } from '../../database/scope.ts'
import { ValidationFailed } from '../../errors.ts'
import { type Page, paginated } from '../../http/paging.ts'
import { localPartOf, type MailAddress } from '../../lib/mail-address.ts'
import { percent } from '../../lib/percent.ts'
import { NoQuotaData } from '../organizations/organizations.errors.ts'
import type { OrganizationService } from '../organizations/organizations.service.ts'
import { type MailboxNeeds, mailboxChanges } from './mailboxes.changes.ts'
import { EmailAccountNotFound, InvalidReset, WeakPassword } from './mailboxes.errors.ts'
import * as accounts from './mailboxes.repository.ts'
import {
  accountProblems,
  newPasswordProblem,
  pick,
  QUOTA_FIELDS,
  readEmail,
  type Sent,
  settingsProblems,
} from './mailboxes.rules.ts'

const DEFAULT_QUOTA = 1024 ** 3
const MAX_LISTED_OF_DOMAIN = 50
const THRESHOLD_PERCENT = 80
const RESET_REASONS = ['temporary', 'admin_reset']

interface Needs extends MailboxNeeds {
  organizations: Pick<OrganizationService, 'get'>
}

export type MailboxService = ReturnType<typeof mailboxService>

export function mailboxService(needs: Needs) {
  const { db, domains, organizations } = needs
  const { add, edit, remove } = mailboxChanges(needs)

  async function find(caller: Caller, id: string) {
    const row = await accounts.find(db, caller.scope, id)
    if (!row) throw new EmailAccountNotFound()
    return row
  }

  return {
    // For the older routes and the routes of the mailbox holder.
    add,
    edit,
    remove,

    async list(
      caller: Caller,
      organizationId: string | undefined,
      filter: accounts.AccountFilter,
      sort: Parameters<typeof accounts.list>[3],
      page: Page,
    ) {
      const scope = narrowed(caller.scope, organizationId)
      const { items, total } = await accounts.list(db, scope, filter, sort, page)
      return paginated(items.map(withLocalPart), total, page)
    },

    /** The first mailboxes by address, because a domain may have very many. */
    async listOfDomain(domainId: string) {
      return (await accounts.listOfDomain(db, domainId, MAX_LISTED_OF_DOMAIN)).map(withLocalPart)
    },

    async get(caller: Caller, id: string) {
      const row = await find(caller, id)
      const everywhere = { ...caller, scope: 'platform' as const }
      const [domain, organization] = await Promise.all([
        domains.get(everywhere, row.domain_id),
        organizations.get(everywhere, row.organization_id),
      ])
      return { ...withLocalPart(row), domain, organization }
    },

    async create(caller: Caller, sent: Sent) {
      const read = readEmail(sent.email)
      const weak = sent.password === '' ? 'Password is required' : newPasswordProblem(sent.password)
      refuse([
        ...('problem' in read ? [read.problem] : []),
        ...(weak === undefined ? [] : [weak]),
        ...accountProblems(sent),
      ])
      refuse(settingsProblems(pick(sent), (read as MailAddress).address))
      const row = await add(caller, {
        address: read as MailAddress,
        password: sent.password as string,
        fields: pick(sent),
        defaultQuota: DEFAULT_QUOTA,
      })
      return withLocalPart(row)
    },

    /** A new password or status ends the holder's sessions. */
    async update(caller: Caller, id: string, sent: Sent) {
      const weak = sent.password === undefined ? undefined : newPasswordProblem(sent.password)
      refuse([...(weak === undefined ? [] : [weak]), ...accountProblems(sent)])
      const before = await find(caller, id)
      const fields: accounts.AccountFields = pick(sent)
      const password = sent.password as string | undefined
      if (Object.keys(fields).length === 0 && password === undefined) return withLocalPart(before)
      const { row } = await edit(caller, id, {
        fields,
        ...(password !== undefined && { password: { new: password } }),
      })
      return withLocalPart(row)
    },

    async quotas(caller: Caller, id: string) {
      const row = await find(caller, id)
      const usage = percent(row.storage_used, row.storage_quota)
      return {
        ...row,
        account_id: row.id,
        usage_percentage: usage,
        over_threshold: usage >= THRESHOLD_PERCENT,
      }
    },

    async setQuotas(caller: Caller, id: string, sent: Sent, force: boolean) {
      const fields: accounts.AccountFields = pick(sent, QUOTA_FIELDS)
      if (Object.keys(fields).length === 0) throw new NoQuotaData()
      refuse(accountProblems(fields as Sent))
      const { row } = await edit(caller, id, { fields, force })
      const { storage_quota, rate_limits, storage_quotas, quota_override } = row
      return { account_id: id, storage_quota, rate_limits, storage_quotas, quota_override }
    },

    async resetPassword(caller: Caller, id: string, sent: Sent) {
      const { temporary = false, reason = 'temporary' } = sent
      const weak = newPasswordProblem(sent.new_password)
      if (weak !== undefined) throw new WeakPassword(weak)
      if (typeof temporary !== 'boolean') throw new InvalidReset('temporary must be a boolean')
      if (typeof reason !== 'string' || !RESET_REASONS.includes(reason)) {
        throw new InvalidReset(`reason must be one of ${RESET_REASONS.join(', ')}`)
      }
      const { row, sessionsRevoked, cacheFlushed } = await edit(caller, id, {
        password: { new: sent.new_password as string, mustChange: temporary ? reason : null },
      })
      return {
        account_id: row.id,
        email: row.email,
        must_change_password: row.must_change_password,
        password_change_reason: row.password_change_reason,
        password_changed_at: row.password_changed_at as string,
        sessions_revoked: sessionsRevoked,
        cache_flushed: cacheFlushed,
      }
    },
  }
}

function refuse(problems: string[]): void {
  if (problems.length > 0) throw new ValidationFailed(problems)
}

export const withLocalPart = <Row extends { email: string }>(row: Row) => ({
  ...row,
  local_part: localPartOf(row.email),
})

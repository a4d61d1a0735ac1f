import { type Caller, partOf } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { ApiError, ValidationFailed } from '../../../errors.ts'
import { toDomainName } from '../../../lib/domain-name.ts'
import { itemText } from '../../../lib/item-text.ts'
import { refuseKept } from '../../mailboxes/kept-mailboxes.ts'
import { removeCredentialsOf } from '../../smtp-credentials/smtp-credential-trail.ts'
import { DomainNotFound, InvalidFormat } from '../domains.errors.ts'
import { DomainDeleted, DomainUpdated } from '../domains.events.ts'
import * as domains from '../domains.repository.ts'
import { type DomainService, shown } from '../domains.service.ts'
import * as legacy from './legacy.repository.ts'

type Sent = Record<string, unknown>

interface Needs extends Pick<Core, 'access' | 'authCache' | 'change' | 'db' | 'events' | 'now'> {
  domains: Pick<DomainService, 'update'>
}

export type LegacyDomainService = ReturnType<typeof legacyDomainService>

/** Older routes, which speak of domains by name; onto the same rules. */
export function legacyDomainService(needs: Needs) {
  const { access, authCache, change, db, events, now } = needs

  const find = async (caller: Caller, nameOrId: string) =>
    (await domains.findByName(db, caller.scope, toDomainName(nameOrId) ?? '')) ??
    (await domains.find(db, caller.scope, nameOrId))

  async function existing(caller: Caller, name: string) {
    const row = await find(caller, name)
    if (!row) throw new DomainNotFound()
    return row
  }

  return {
    /** Each item on its own: one that fails does not hold up the others. */
    async edit(caller: Caller, sent: Sent) {
      const { items, attr } = sent
      if (!Array.isArray(items) || attr === null || typeof attr !== 'object') {
        throw new InvalidFormat('Invalid request format')
      }
      const fields = fieldsOf(attr as Sent)
      const results: { domain: string; status: string; msg: string }[] = []
      for (const [index, item] of items.map(itemText).entries()) {
        const part = partOf(caller, index === items.length - 1)
        results.push(
          await outcome(item, async () => {
            const row = await find(caller, item)
            if (!row) throw new InvalidFormat(`Domain ${item} not found`)
            if (Object.keys(fields).length > 0) await needs.domains.update(part, row.id, fields)
            return `Domain ${item} updated successfully`
          }),
        )
      }
      return results
    },

    /** With everything in it; each domain is a transaction of its own. */
    async remove(caller: Caller, sent: unknown) {
      if (!Array.isArray(sent)) {
        throw new InvalidFormat('Invalid request format - array of domains expected')
      }
      const results: { domain: string; status: string; msg: string; stats?: Removed }[] = []
      for (const [index, item] of sent.map(itemText).entries()) {
        const part = partOf(caller, index === sent.length - 1)
        let stats: Removed | undefined
        const result = await outcome(item, async () => {
          const row = await find(caller, item)
          if (!row) throw new InvalidFormat(`Domain ${item} not found`)
          stats = await removeWithContents(part, row.id)
          return `Domain ${item} deleted successfully`
        })
        results.push({ ...result, ...(stats && { stats }) })
      }
      return results
    },

    async policy(caller: Caller, name: string) {
      const row = await existing(caller, name)
      const {
        domain,
        active,
        policy_bl_only,
        policy_reject_spam,
        policy_greylist,
        policy_rbl,
        rate_limits,
      } = row
      return {
        domain,
        active,
        policy_bl_only,
        policy_reject_spam,
        policy_greylist,
        policy_rbl,
        rate_limits,
      }
    },

    /** What is omitted falls back to the defaults, not to what was stored. */
    async setPolicy(caller: Caller, sent: Sent): Promise<string> {
      if (typeof sent.domain !== 'string' || sent.domain === '') {
        throw new InvalidFormat('Missing required field: domain')
      }
      const fields: domains.DomainFields = {}
      const problems: string[] = []
      for (const [name, fallback] of Object.entries(POLICY_DEFAULTS)) {
        const value = sent[name] ?? fallback
        if (value !== 0 && value !== 1) problems.push(`${name} must be 0 or 1`)
        else fields[name as keyof typeof POLICY_DEFAULTS] = value
      }
      if (problems.length > 0) throw new ValidationFailed(problems)
      const row = await existing(caller, sent.domain)
      await change(caller, async (tx) => {
        await domains.update(tx, row.id, fields, now())
        await events.emit(tx, DomainUpdated, aboutOf(row), {
          ...namesOf(row),
          update_type: 'policy',
        })
      })
      return row.domain
    },

    async stats(caller: Caller, name: string) {
      const row = await existing(caller, name)
      const { count, used } = await domains.activeAccounts(db, row.id)
      return {
        domain: row.domain,
        mailbox_count: count,
        alias_count: await domains.countAliases(db, row.id),
        total_quota_used: used,
        domain_details: shown(row),
      }
    },
  }

  async function removeWithContents(caller: Caller, id: string): Promise<Removed> {
    const { logins, ...stats } = await change(caller, async (tx) => {
      const row = await domains.lock(tx, caller.scope, id)
      if (!row) throw new DomainNotFound()
      await refuseKept(tx, { ...row, ...(await legacy.addressesOf(tx, id)) }, now())
      const usernames = await removeCredentialsOf(tx, caller, id, now())
      const accounts = await legacy.removeAccountsOf(tx, id)
      const aliases = await legacy.removeAliasesOf(tx, id)
      await domains.remove(tx, id)
      const counts = { mailboxes_deleted: accounts.length, aliases_deleted: aliases.length }
      await events.emit(tx, DomainDeleted, aboutOf(row), { ...namesOf(row), ...counts })
      return { ...counts, logins: [...usernames, ...accounts.map(({ email }) => email)] }
    })
    await authCache.flush(logins)
    await access.settled()
    return stats
  }
}

interface Removed {
  mailboxes_deleted: number
  aliases_deleted: number
}

const POLICY_DEFAULTS = {
  policy_bl_only: 0,
  policy_reject_spam: 0,
  policy_greylist: 1,
  policy_rbl: 1,
}

/** Old names of attributes; what has no counterpart is ignored. */
function fieldsOf(attr: Sent): Sent {
  const quota = attr.maxquota ?? attr.quota
  return {
    ...(attr.description !== undefined && { description: attr.description }),
    ...(attr.mailboxes !== undefined && { max_users: toNumber(attr.mailboxes) }),
    ...(quota !== undefined && { max_quota: toNumber(quota) }),
    ...(attr.active !== undefined && {
      active: [true, 1, '1', 'true'].includes(attr.active as never),
    }),
  }
}

const toNumber = (value: unknown) =>
  typeof value === 'string' && value !== '' ? Number(value) : value

async function outcome(domain: string, work: () => Promise<string>) {
  try {
    return { domain, status: 'success', msg: await work() }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { errors = [] } = (error.data ?? {}) as { errors?: string[] }
    return { domain, status: 'error', msg: errors[0] ?? error.message }
  }
}

const aboutOf = (row: domains.DomainRow) => ({ org_id: row.organization_id, domain: row.domain })
const namesOf = (row: domains.DomainRow) => ({
  domain_id: row.id,
  domain: row.domain,
  organization_id: row.organization_id,
})

import { type Caller, partOf } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { ApiError, refuseNotWritable, ValidationFailed } from '../../../errors.ts'
import { trailActor } from '../../../hosting/credential-trail.repository.ts'
import { refuseHeldDomain } from '../../../hosting/held-mailboxes.ts'
import { toDomainName } from '../../../lib/domain-name.ts'
import { itemText } from '../../../lib/item-text.ts'
import { removeWithContents } from '../domain-contents.ts'
import { DomainNotFound, InvalidFormat } from '../domains.errors.ts'
import { DomainDeleted, DomainUpdated, eventData, eventSubject } from '../domains.events.ts'
import * as domains from '../domains.repository.ts'
import { type DomainService, withUnicode } from '../domains.service.ts'

type Sent = Record<string, unknown>

interface Needs extends Pick<Core, 'access' | 'authCache' | 'change' | 'db' | 'events' | 'now'> {
  domains: Pick<DomainService, 'update'>
}

export type LegacyDomainService = ReturnType<typeof legacyDomainService>

/** The older routes name domains instead of ids; the rules are those of the domain service. */
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
    /** One change per item. A failed item does not stop the others. */
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
            const isEmpty = Object.keys(fields).length === 0
            refuseNotWritable(attr, row, isEmpty)
            if (!isEmpty) await needs.domains.update(part, row.id, fields)
            return `Domain ${item} updated successfully`
          }),
        )
      }
      return results
    },

    /** Deletes domains with their contents, one transaction per domain. */
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
          stats = await removeOne(part, row.id)
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

    /** An omitted field is set to its default; the stored value is not kept. */
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
        await events.emit(tx, DomainUpdated, eventSubject(row), {
          ...eventData(row),
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
        domain_details: withUnicode(row),
      }
    },
  }

  async function removeOne(caller: Caller, id: string): Promise<Removed> {
    const { logins, ...stats } = await change(caller, async (tx) => {
      const row = await domains.lock(tx, caller.scope, id)
      if (!row) throw new DomainNotFound()
      await refuseHeldDomain(tx, row, await domains.mailboxIdsOf(tx, id), now())
      const { counts, logins } = await removeWithContents(tx, trailActor(caller), id, now())
      await events.emit(tx, DomainDeleted, eventSubject(row), { ...eventData(row), ...counts })
      return { ...counts, logins }
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

/** Maps the older attribute names; unknown ones are ignored. */
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

import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { ulid } from '../../../lib/ulid.ts'
import { DnsUnavailable } from '../../../mail/dns.ts'
import { dkimName, dkimValue } from '../dns-records.ts'
import { DomainNotFound } from '../domains.errors.ts'
import { EncryptionKeyGenerated } from '../domains.events.ts'
import * as domains from '../domains.repository.ts'
import { dkimVisible } from '../verify-dns/dns-check.ts'
import { DkimKeyInUse, DkimKeyNotFound, DkimNotVisible, TooManyDkimKeys } from './dkim.errors.ts'
import { dkimPublisher } from './dkim.publisher.ts'
import * as keys from './dkim.repository.ts'
import { DKIM_KEY_BITS, DKIM_PURPOSE, newDkimKey } from './dkim-key.ts'

/** Limits how many keys a tenant can make without publishing any of them. */
const MAX_WAITING_KEYS = 5

type Keys = Awaited<ReturnType<typeof keys.listOf>>

interface ActivateOptions {
  /** Activate although the record is not visible. */
  force?: boolean
  NotVisible?: typeof DkimNotVisible
}

type Needs = Pick<
  Core,
  'change' | 'db' | 'events' | 'log' | 'now' | 'signingKeys' | 'vault' | 'withDns'
>

export type DkimService = ReturnType<typeof dkimService>

/** A new key signs nothing until its DNS record is visible and its selector is activated. */
export function dkimService(needs: Needs) {
  const { change, db, events, now, vault, withDns } = needs
  const publisher = dkimPublisher(needs)

  async function existing(caller: Caller, id: string) {
    const row = await domains.find(db, caller.scope, id)
    if (!row) throw new DomainNotFound()
    return row
  }

  const record = (domain: string, key: { selector: string; public_key: string }) => ({
    record_name: dkimName(domain, key.selector),
    record_type: 'TXT' as const,
    record_value: dkimValue(key.public_key),
  })

  return {
    async list(caller: Caller, domainId: string) {
      const row = await existing(caller, domainId)
      const rows = await keys.listOf(db, domainId)
      return {
        domain: row.domain,
        domain_id: row.id,
        dkim_enabled: row.dkim_enabled,
        signing_selector: rows.find(({ active }) => active)?.selector ?? row.dkim_selector,
        items: rows.map((key) => ({ ...key, ...record(row.domain, key) })),
        total: rows.length,
      }
    },

    /** Makes a key on behalf of an operator. */
    async rotate(caller: Caller, domainId: string) {
      const { row, key, before } = await add(caller, domainId)
      return {
        domain: row.domain,
        selector: key.selector,
        algorithm: key.algorithm,
        key_size: key.key_size,
        active: false as const,
        rspamd_synced: await publisher.publish(row.domain),
        ...record(row.domain, key),
        previous_active_selectors: before
          .filter(({ active }) => active)
          .map(({ selector }) => selector),
        activate_url: `/api/v1/domains/${domainId}/dkim/${key.selector}/activate`,
        warning:
          'Mail is still signed with the old key. Publish this record, then activate its selector.',
      }
    },

    /** Makes a key on behalf of a tenant, who may have a few that are not activated yet. */
    async create(caller: Caller, domainId: string) {
      await existing(caller, domainId)
      refuseTooMany(await keys.listOf(db, domainId))
      const { row, key } = await add(caller, domainId, refuseTooMany)
      await publisher.publish(row.domain)
      return { ...key, ...record(row.domain, key) }
    },

    /** Deletes a key that was never activated. */
    async remove(caller: Caller, domainId: string, selector: string) {
      const row = await existing(caller, domainId)
      await change(caller, async (tx) => {
        if (!(await domains.lock(tx, caller.scope, domainId))) throw new DomainNotFound()
        const key = (await keys.listOf(tx, domainId)).find((one) => one.selector === selector)
        if (!key) throw new DkimKeyNotFound(selector)
        if (!isWaiting(key)) throw new DkimKeyInUse(selector)
        await keys.remove(tx, key.id)
      })
      await publisher.publish(row.domain)
      return { domain_id: domainId, selector }
    },

    async activate(
      caller: Caller,
      domainId: string,
      selector: string,
      { force = false, NotVisible = DkimNotVisible }: ActivateOptions = {},
    ) {
      const row = await existing(caller, domainId)
      const key = (await keys.listOf(db, domainId)).find((one) => one.selector === selector)
      if (!key) throw new DkimKeyNotFound(selector)
      if (!force && !key.active && !(await isVisible(row.domain, key))) {
        throw new NotVisible(dkimName(row.domain, selector))
      }
      const retired = await change(caller, async (tx) => {
        if (!(await domains.lock(tx, caller.scope, domainId))) throw new DomainNotFound()
        const deactivated = await keys.retireOthers(tx, domainId, selector, now())
        if (!(await keys.activate(tx, domainId, selector, now())))
          throw new DkimKeyNotFound(selector)
        await domains.update(tx, domainId, { dkim_selector: selector }, now())
        return deactivated
      })
      const { record_name, record_value } = record(row.domain, key)
      return {
        domain: row.domain,
        active_selector: selector,
        deactivated_selectors: retired.map((one) => one.selector),
        rspamd_synced: await publisher.publish(row.domain),
        record_name,
        record_value,
        warning:
          'Leave the old record published for two weeks: mail that is on its way was signed with it.',
      }
    },
  }

  async function add(caller: Caller, domainId: string, check: (present: Keys) => void = () => {}) {
    const row = await existing(caller, domainId)
    const { publicKey, privateKey } = await newDkimKey()
    return change(caller, async (tx) => {
      if (!(await domains.lock(tx, caller.scope, domainId))) throw new DomainNotFound()
      const before = await keys.listOf(tx, domainId)
      check(before)
      const inserted = await keys.insert(tx, {
        id: ulid(),
        domain_id: domainId,
        selector: freeSelector(
          now(),
          before.map(({ selector }) => selector),
        ),
        key_size: DKIM_KEY_BITS,
        public_key: publicKey,
        private_key: vault.seal(DKIM_PURPOSE, privateKey),
        active: false,
      })
      const key = inserted as NonNullable<typeof inserted>
      await events.emit(
        tx,
        EncryptionKeyGenerated,
        { org_id: row.organization_id, domain: row.domain },
        { domain_id: domainId, domain: row.domain, selector: key.selector, kind: 'dkim' },
      )
      return { row, key, before }
    })
  }

  /** Without an answer from the resolvers the record counts as not visible. */
  async function isVisible(domain: string, key: { selector: string; public_key: string }) {
    try {
      return await withDns((dns) => dkimVisible(domain, key, dns))
    } catch (error) {
      if (error instanceof DnsUnavailable) return false
      throw error
    }
  }
}

/** `svc20261115093000`, with a suffix for a second rotation within the second. */
function freeSelector(now: Date, taken: string[]): string {
  const stem = `svc${now.toISOString().replace(/\D/g, '').slice(0, 14)}`
  let selector = stem
  for (let n = 2; taken.includes(selector); n++) selector = `${stem}x${n}`
  return selector
}

const isWaiting = ({ active, retired_at }: Keys[number]) => !active && retired_at === null

function refuseTooMany(present: Keys): void {
  const waiting = present.filter(isWaiting).length
  if (waiting >= MAX_WAITING_KEYS) throw new TooManyDkimKeys(waiting)
}

import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { defineError } from '../../../errors.ts'
import { ulid } from '../../../lib/ulid.ts'
import { DnsUnavailable } from '../../../mail/dns.ts'
import { dkimName, dkimValue } from '../dns-records.ts'
import { DomainNotFound } from '../domains.errors.ts'
import { EncryptionKeyGenerated } from '../domains.events.ts'
import * as domains from '../domains.repository.ts'
import { dkimVisible } from '../verify-dns/dns-check.ts'
import { dkimPublisher } from './dkim.publisher.ts'
import * as keys from './dkim.repository.ts'
import { DKIM_KEY_BITS, DKIM_PURPOSE, newDkimKey } from './dkim-key.ts'

export const DkimKeyNotFound = defineError<string>({
  status: 404,
  message: (selector) => `No DKIM key with selector '${selector}' on this domain`,
})
export const DkimNotVisible = defineError<string>({
  status: 409,
  code: 'DKIM_RECORD_NOT_VISIBLE',
  message: (name) =>
    `The DKIM record ${name} is not visible in DNS yet; publish it first, or pass force: true`,
})

type Needs = Pick<
  Core,
  'change' | 'db' | 'events' | 'log' | 'now' | 'signingKeys' | 'vault' | 'withDns'
>

export type DkimService = ReturnType<typeof dkimService>

/** Publish first, sign later: a new key changes nothing until its record can be seen. */
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

    async rotate(caller: Caller, domainId: string) {
      const row = await existing(caller, domainId)
      const { publicKey, privateKey } = await newDkimKey()
      const { key, before } = await change(caller, async (tx) => {
        if (!(await domains.lock(tx, caller.scope, domainId))) throw new DomainNotFound()
        const present = await keys.listOf(tx, domainId)
        const inserted = await keys.insert(tx, {
          id: ulid(),
          domain_id: domainId,
          selector: freeSelector(
            now(),
            present.map(({ selector }) => selector),
          ),
          key_size: DKIM_KEY_BITS,
          public_key: publicKey,
          private_key: vault.seal(DKIM_PURPOSE, privateKey),
          active: false,
        })
        const { selector } = inserted as NonNullable<typeof inserted>
        await events.emit(
          tx,
          EncryptionKeyGenerated,
          { org_id: row.organization_id, domain: row.domain },
          { domain_id: domainId, domain: row.domain, selector, kind: 'dkim' },
        )
        return { key: inserted as NonNullable<typeof inserted>, before: present }
      })
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

    async activate(caller: Caller, domainId: string, selector: string, force: boolean) {
      const row = await existing(caller, domainId)
      const key = (await keys.listOf(db, domainId)).find((one) => one.selector === selector)
      if (!key) throw new DkimKeyNotFound(selector)
      if (!force && !key.active && !(await isVisible(row.domain, key))) {
        throw new DkimNotVisible(dkimName(row.domain, selector))
      }
      const retired = await change(caller, async (tx) => {
        if (!(await domains.lock(tx, caller.scope, domainId))) throw new DomainNotFound()
        const gone = await keys.retireOthers(tx, domainId, selector, now())
        if (!(await keys.activate(tx, domainId, selector, now())))
          throw new DkimKeyNotFound(selector)
        await domains.update(tx, domainId, { dkim_selector: selector }, now())
        return gone
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

  /** Resolvers that do not answer prove nothing: the record counts as not visible. */
  async function isVisible(domain: string, key: { selector: string; public_key: string }) {
    try {
      return await withDns((dns) => dkimVisible(domain, key, dns))
    } catch (error) {
      if (error instanceof DnsUnavailable) return false
      throw error
    }
  }
}

/** `svc20261115093000`; a second one in the same second gets a suffix. */
function freeSelector(now: Date, taken: string[]): string {
  const stem = `svc${now.toISOString().replace(/\D/g, '').slice(0, 14)}`
  let selector = stem
  for (let n = 2; taken.includes(selector); n++) selector = `${stem}x${n}`
  return selector
}

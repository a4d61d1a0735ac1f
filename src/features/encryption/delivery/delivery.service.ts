import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { NoUsableKey } from '../encryption.errors.ts'
import { isUsable } from '../pgp/keys.service.ts'
import * as keys from '../pgp/pgp.repository.ts'
import { mailboxOf } from '../whose.ts'
import * as settings from './delivery.repository.ts'

type Needs = Pick<Core, 'change' | 'db' | 'now'>

export type DeliveryService = ReturnType<typeof deliveryService>

/** The setting of a holder that incoming mail is encrypted to the own key. */
export function deliveryService({ change, db, now }: Needs) {
  async function get(caller: Caller) {
    const { organizationId, account } = mailboxOf(caller)
    const setting = await settings.settingOf(db, account?.id ?? '')
    const own = await keys.ofAddress(db, organizationId, account?.email ?? '')
    const key = own.find(({ preferred, account_id }) => preferred && account_id === account?.id)
    return {
      enabled: setting?.enabled ?? false,
      fingerprint: key?.fingerprint ?? null,
      updated_at: setting?.updated_at ?? null,
    }
  }

  return {
    get,

    async set(caller: Caller, enabled: boolean) {
      const { organizationId, account } = mailboxOf(caller)
      const { id, email } = account ?? { id: '', email: '' }
      await change(caller, async (tx) => {
        await keys.lockAddress(tx, organizationId, email)
        const own = await keys.ofAddress(tx, organizationId, email)
        const hasKey = own.some(
          (one) => one.preferred && one.account_id === id && isUsable(one, now()),
        )
        if (enabled && !hasKey) throw new NoUsableKey()
        await settings.set(tx, { id, organizationId }, enabled, now())
      })
      return get(caller)
    },
  }
}

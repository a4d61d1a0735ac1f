import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import type { Db } from '../../../database/database.ts'
import { NoUsableKey } from '../encryption.errors.ts'
import { lockAddress } from '../encryption.repository.ts'
import { isUsable } from '../keys.ts'
import { keys } from '../pgp/pgp.repository.ts'
import { certificates } from '../smime/smime.repository.ts'
import { mailboxOf, type Whose } from '../whose.ts'
import * as settings from './delivery.repository.ts'

type Needs = Pick<Core, 'change' | 'db' | 'now'>

export type DeliveryService = ReturnType<typeof deliveryService>

/** The setting of a holder that incoming mail is encrypted to the own key or certificate. */
export function deliveryService({ change, db, now }: Needs) {
  async function preferredOf(tx: Db, { organizationId, account }: Whose, method: settings.Method) {
    const { ofAddress } = method === 'pgp' ? keys : certificates
    const own = await ofAddress(tx, organizationId, account?.email ?? '')
    return own.find(({ preferred, account_id }) => preferred && account_id === account?.id)
  }

  async function get(caller: Caller) {
    const whose = mailboxOf(caller)
    const setting = await settings.settingOf(db, whose.account?.id ?? '')
    const method = setting?.method ?? 'pgp'
    return {
      enabled: setting?.enabled ?? false,
      method,
      fingerprint: (await preferredOf(db, whose, method))?.fingerprint ?? null,
      updated_at: setting?.updated_at ?? null,
    }
  }

  return {
    get,

    async set(caller: Caller, sent: { enabled: boolean; method?: settings.Method }) {
      const whose = mailboxOf(caller)
      const { organizationId, account = { id: '', email: '' } } = whose
      await change(caller, async (tx) => {
        await lockAddress(tx, organizationId, account.email)
        const before = await settings.settingOf(tx, account.id)
        const { enabled, method = before?.method ?? 'pgp' } = sent
        const own = await preferredOf(tx, whose, method)
        if (enabled && !(own && isUsable(own, now()))) throw new NoUsableKey()
        await settings.set(tx, { id: account.id, organizationId }, { enabled, method }, now())
      })
      return get(caller)
    },
  }
}

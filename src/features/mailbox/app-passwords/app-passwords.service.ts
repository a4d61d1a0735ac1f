import { type AppPasswordScope, newAppPassword } from '../../../access/app-passwords.ts'
import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { domainOf } from '../../../lib/mail-address.ts'
import { sha256 } from '../../../lib/tokens.ts'
import { ulid } from '../../../lib/ulid.ts'
import { AppPasswordNotFound, TooManyAppPasswords } from './app-passwords.errors.ts'
import * as event from './app-passwords.events.ts'
import * as passwords from './app-passwords.repository.ts'

const LIMIT = 50

type Needs = Pick<Core, 'access' | 'authCache' | 'change' | 'db' | 'events' | 'now'>

export type AppPasswordService = ReturnType<typeof appPasswordService>

/** Passwords of single mail programs, which each can be revoked alone. */
export function appPasswordService({ access, authCache, change, db, events, now }: Needs) {
  const named = ({ id, email, organizationId }: Caller) => ({
    account_id: id,
    email: email ?? '',
    organization_id: organizationId ?? '',
  })
  const about = ({ email, organizationId }: Caller) => ({
    org_id: organizationId,
    domain: domainOf(email ?? ''),
  })

  return {
    async list(caller: Caller, page: Page) {
      const { items, total } = await passwords.list(db, caller.id, page)
      return paginated(items, total, page)
    },

    create(caller: Caller, { name, scopes }: { name: string; scopes: AppPasswordScope[] }) {
      const password = newAppPassword()
      return change(caller, async (tx) => {
        if ((await passwords.lockAndCount(tx, caller.id)) >= LIMIT) {
          throw new TooManyAppPasswords({ limit: LIMIT })
        }
        const row = await passwords.insert(tx, {
          id: ulid(),
          organization_id: caller.organizationId ?? '',
          email_account_id: caller.id,
          name,
          scopes,
          password_hash: sha256(password),
          created_at: now().toISOString(),
        })
        await events.emit(tx, event.AppPasswordCreated, about(caller), {
          ...named(caller),
          app_password_id: row.id,
          name,
          scopes,
        })
        return { ...row, password }
      })
    },

    /** Programs that use it are refused from their next login on. */
    async revoke(caller: Caller, id: string) {
      await change(caller, async (tx) => {
        const removed = await passwords.remove(tx, caller.id, id)
        if (!removed) throw new AppPasswordNotFound()
        await events.emit(tx, event.AppPasswordRevoked, about(caller), {
          ...named(caller),
          app_password_id: id,
          name: removed.name,
        })
      })
      await access.settled()
      return { id, cache_flushed: await authCache.flush([caller.email ?? '']) }
    },
  }
}

import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { type Page, paginated } from '../../http/paging.ts'
import { domainOf } from '../../lib/mail-address.ts'
import type { Session } from '../../mail/managesieve/session.ts'
import {
  type Additions,
  isReserved,
  MAIN,
  mainScript,
  TENANT_VACATION,
} from '../../sieve/main-script.ts'
import { vacation } from '../../sieve/vacation.ts'
import { type Layout, readComponent, readLayout, runAll } from '../mailbox/script-store/layout.ts'
import type { ScriptStore } from '../mailbox/script-store/script-store.ts'
import * as errors from './filters.errors.ts'
import { FilterCreated, FilterDeleted, FilterUpdated } from './filters.events.ts'
import { findActiveAccount } from './filters.repository.ts'
import { TEMPLATES } from './templates.ts'

const NAME = /^[A-Za-z0-9_-]{1,64}$/

interface NewScript {
  name: string
  content: string
  active?: boolean
  replace?: boolean
}

interface Needs extends Pick<Core, 'db' | 'events'> {
  scripts: ScriptStore
}

export type FilterService = ReturnType<typeof filterService>

/**
 * The tenant's side of a mailbox's scripts. The main script of the holder's pages stays the active
 * one: it runs the tenant's script beside the holder's, so that neither displaces the other.
 */
export function filterService({ db, events, scripts }: Needs) {
  async function account(caller: Caller, sent: string) {
    const found = await findActiveAccount(db, caller.scope, sent.trim().toLowerCase())
    if (!found) throw new errors.AccountNotFound(sent)
    return {
      ...found,
      about: { org_id: found.organization_id, domain: domainOf(found.email) },
    }
  }

  return {
    account,

    async list(caller: Caller, email: string, page: Page) {
      const of = await account(caller, email)
      return scripts.read(of.email, async (session) => {
        const layout = await readLayout(session)
        const names = [...layout.names].sort()
        const items = []
        for (const name of names.slice(page.offset, page.offset + page.perPage)) {
          const content = await session.get(name)
          if (content !== undefined) items.push(scriptOf(name, content, layout))
        }
        return paginated(items, names.length, page)
      })
    },

    templates: (page: Page) =>
      paginated(TEMPLATES.slice(page.offset, page.offset + page.perPage), TEMPLATES.length, page),

    async get(caller: Caller, email: string, name: string) {
      const of = await account(caller, email)
      return scripts.read(of.email, async (session) => {
        const layout = await readLayout(session)
        const content = layout.names.has(name) ? await session.get(name) : undefined
        if (content === undefined) throw new errors.ScriptNotFound(name)
        return scriptOf(name, content, layout)
      })
    },

    async save(caller: Caller, email: string, sent: NewScript) {
      const { name, content, active: wanted = false, replace = false } = sent
      if (!NAME.test(name)) throw new errors.InvalidScriptName()
      if (isReserved(name)) throw new errors.ReservedScriptName()
      const of = await account(caller, email)
      return scripts.edit(caller, of, async (session, tx) => {
        const layout = await readLayout(session)
        const active = wanted || isActive(name, layout)
        await events.emit(tx, FilterCreated, of.about, {
          script_name: name,
          email: of.email,
          active,
        })
        if (wanted) await refuseDisplacing(session, layout, name, replace)
        await session.put(name, content)
        if (wanted) await runAll(session, slotOf(name))
        return { name, active }
      })
    },

    async activate(caller: Caller, email: string, name: string, replace = false) {
      const of = await account(caller, email)
      return scripts.edit(caller, of, async (session, tx) => {
        const layout = await refuseMissing(session, name)
        await refuseDisplacing(session, layout, name, replace)
        await events.emit(tx, FilterUpdated, of.about, {
          script_name: name,
          email: of.email,
          action: 'activated',
        })
        await runAll(session, slotOf(name))
        return { name, active: true }
      })
    },

    async remove(caller: Caller, email: string, name: string) {
      const of = await account(caller, email)
      return scripts.edit(caller, of, async (session, tx) => {
        const layout = await refuseMissing(session, name)
        await events.emit(tx, FilterDeleted, of.about, { script_name: name, email: of.email })
        await deactivate(session, layout, name)
        await session.remove(name)
        return { name }
      })
    },
  }
}

async function refuseMissing(session: Session, name: string): Promise<Layout> {
  if (isReserved(name)) throw new errors.ReservedScriptName()
  const layout = await readLayout(session)
  if (!layout.names.has(name)) throw new errors.ScriptNotFound(name)
  return layout
}

/** One reply per message, and one script that the holder has activated: both are the holder's. */
export async function refuseDisplacing(
  session: Session,
  { active }: Layout,
  name: string,
  replace: boolean,
): Promise<void> {
  if (name === TENANT_VACATION) {
    const { settings } = await readComponent(session, vacation)
    if (settings.enabled) throw new errors.HolderOnVacation()
  }
  if (active !== undefined && active !== MAIN && active !== name && !replace) {
    throw new errors.HolderScriptActive({ active })
  }
}

/** The responder has a place of its own beside the one script that a tenant may run. */
export const slotOf = (name: string): Partial<Additions> =>
  name === TENANT_VACATION ? { vacation: true } : { filter: name }

export async function deactivate(session: Session, layout: Layout, name: string): Promise<void> {
  const { active, additions } = layout
  if (active === name) await session.activate('')
  if (additions.filter !== name && !(additions.vacation && name === TENANT_VACATION)) return
  const changed = name === TENANT_VACATION ? { vacation: false } : { filter: undefined }
  await session.put(MAIN, mainScript({ ...additions, ...changed }))
}

const isActive = (name: string, { active, additions }: Layout): boolean => {
  if (active === name) return true
  if (active !== MAIN) return false
  return name === TENANT_VACATION ? additions.vacation : additions.filter === name
}

const scriptOf = (name: string, content: string, layout: Layout) => ({
  name,
  content,
  active: isActive(name, layout) || (isReserved(name) && layout.active === MAIN),
  size: Buffer.byteLength(content),
  // The script store knows no times.
  created_at: null,
  managed: isReserved(name),
})

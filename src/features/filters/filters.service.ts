import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { type Page, paginated } from '../../http/paging.ts'
import { domainOf } from '../../lib/mail-address.ts'
import type { Session } from '../../mail/managesieve/session.ts'
import { isReserved, MAIN, mainScript } from '../../sieve/main-script.ts'
import { type Layout, readLayout, runAll } from '../mailbox/script-store/layout.ts'
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
 * Scripts that a tenant sets for a mailbox. The generated main script stays the active script: it includes
 * the tenant's script and the holder's scripts, so that neither replaces the other.
 */
export function filterService({ db, events, scripts }: Needs) {
  async function account(caller: Caller, sent: string) {
    const row = await findActiveAccount(db, caller.scope, sent.trim().toLowerCase())
    if (!row) throw new errors.AccountNotFound(sent)
    return {
      ...row,
      about: { org_id: row.organization_id, domain: domainOf(row.email) },
    }
  }

  return {
    account,

    async list(caller: Caller, email: string, page: Page) {
      const mailbox = await account(caller, email)
      return scripts.read(mailbox.email, async (session) => {
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
      const mailbox = await account(caller, email)
      return scripts.read(mailbox.email, async (session) => {
        const layout = await readLayout(session)
        const content = layout.names.has(name) ? await session.get(name) : undefined
        if (content === undefined) throw new errors.ScriptNotFound(name)
        return scriptOf(name, content, layout)
      })
    },

    async save(caller: Caller, email: string, sent: NewScript) {
      const { name, content, active: activate = false, replace = false } = sent
      if (!NAME.test(name)) throw new errors.InvalidScriptName()
      if (isReserved(name)) throw new errors.ReservedScriptName()
      const mailbox = await account(caller, email)
      return scripts.edit(caller, mailbox, async (session, tx) => {
        const layout = await readLayout(session)
        const active = activate || isActive(name, layout)
        await events.emit(tx, FilterCreated, mailbox.about, {
          script_name: name,
          email: mailbox.email,
          active,
        })
        if (activate) refuseConflict(layout, name, replace)
        await session.put(name, content)
        if (activate) await runAll(session, name)
        return { name, active }
      })
    },

    async activate(caller: Caller, email: string, name: string, replace = false) {
      const mailbox = await account(caller, email)
      return scripts.edit(caller, mailbox, async (session, tx) => {
        const layout = await refuseMissing(session, name)
        refuseConflict(layout, name, replace)
        await events.emit(tx, FilterUpdated, mailbox.about, {
          script_name: name,
          email: mailbox.email,
          action: 'activated',
        })
        await runAll(session, name)
        return { name, active: true }
      })
    },

    async remove(caller: Caller, email: string, name: string) {
      const mailbox = await account(caller, email)
      return scripts.edit(caller, mailbox, async (session, tx) => {
        const layout = await refuseMissing(session, name)
        await events.emit(tx, FilterDeleted, mailbox.about, {
          script_name: name,
          email: mailbox.email,
        })
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

/** A script that the holder's own mail program has activated takes precedence. */
export function refuseConflict({ active }: Layout, name: string, replace: boolean): void {
  if (active !== undefined && active !== MAIN && active !== name && !replace) {
    throw new errors.HolderScriptActive({ active })
  }
}

async function deactivate(session: Session, layout: Layout, name: string): Promise<void> {
  if (layout.active === name) await session.activate('')
  if (layout.filter === name) await session.put(MAIN, mainScript(undefined))
}

const isActive = (name: string, { active, filter }: Layout): boolean =>
  active === name || (active === MAIN && filter === name)

const scriptOf = (name: string, content: string, layout: Layout) => ({
  name,
  content,
  active: isActive(name, layout) || (isReserved(name) && layout.active === MAIN),
  size: Buffer.byteLength(content),
  // ManageSieve reports no timestamps.
  created_at: null,
  managed: isReserved(name),
})

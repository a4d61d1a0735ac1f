import { type Caller, isPlatform } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { refusing } from '../../../database/conflicts.ts'
import { narrowed, organizationOf, type Scope } from '../../../database/scope.ts'
import { invalidField } from '../../../errors.ts'
import { isOrganization, lockOrganization } from '../../../hosting/tenants.repository.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { checkPatterns } from '../../../lib/check-patterns.ts'
import { ulid } from '../../../lib/ulid.ts'
import { OrganizationNotFound } from '../../organizations/organizations.errors.ts'
import { checkerOf } from '../checking/checker.ts'
import * as clicks from '../clicks/clicks.repository.ts'
import { endOf, listKeys } from '../links/link-keys.ts'
import { linkRewriter } from '../links/rewriter.ts'
import { readEntry } from '../lists/entries.ts'
import * as lists from '../lists/lists.repository.ts'
import * as settings from './settings.repository.ts'
import {
  EntryExists,
  EntryNotFound,
  ListFull,
  NoPublicUrl,
  OrganizationRequired,
} from './url-protection.errors.ts'

const MAX_ENTRIES = 5000
const MAX_PATTERNS = 100

interface SentEntry {
  entry_type: lists.EntryType
  entry: string
  reason?: string | null
}

type Needs = Pick<
  Core,
  'change' | 'config' | 'db' | 'listen' | 'log' | 'now' | 'vault' | 'withDns' | 'workers'
>

export type UrlProtectionService = ReturnType<typeof urlProtectionService>

export function urlProtectionService(core: Needs) {
  const { change, config, db, now, workers } = core
  const rewrite = linkRewriter(core)

  /** A tenant acts on its own organization; a platform caller must name one. */
  async function ownerOf(caller: Caller, sent: string | undefined): Promise<string> {
    if (!isPlatform(caller)) return caller.organizationId ?? ''
    if (sent === undefined) throw new OrganizationRequired()
    if (!(await isOrganization(db, sent))) throw new OrganizationNotFound()
    return sent
  }

  /** A changed list is in force in this process before the response. */
  async function settled<Result>(changed: Promise<Result>): Promise<Result> {
    const result = await changed
    await (await checkerOf(core)).settled()
    return result
  }

  /** The entry as it is compared: hosts in lower case, addresses without scheme and fragment. */
  async function entryOf(owner: string, { entry_type, entry }: SentEntry): Promise<string> {
    const text = entry.trim()
    if (entry_type === 'pattern') {
      const checked = (await checkPatterns(workers, owner, [text])).get(text)
      if (checked?.problem !== undefined) throw invalidField('entry', checked.problem)
      if (checked?.matchesEmptyText) throw invalidField('entry', 'Must not match every address')
      return text
    }
    const read = readEntry(text)
    if (!read) throw invalidField('entry', 'Must be a host, a host with a path, or a URL')
    if (entry_type === 'domain' && !('host' in read)) throw invalidField('entry', 'Must be a host')
    if (entry_type === 'url' && !('prefix' in read)) {
      throw invalidField('entry', 'Must have a path; use the type domain for a whole host')
    }
    return 'host' in read ? read.host : read.prefix
  }

  async function add(caller: Caller, organizationId: string | null, sent: SentEntry) {
    const owner = organizationId ?? 'operator'
    const entry = await entryOf(owner, sent)
    const { entry_type } = sent
    const limit = entry_type === 'pattern' ? MAX_PATTERNS : MAX_ENTRIES
    return settled(
      refusing({ url_blocklist_entry: () => new EntryExists() }, () =>
        change(caller, async (tx) => {
          if (organizationId !== null && !(await lockOrganization(tx, organizationId))) {
            throw new OrganizationNotFound()
          }
          await lists.lockList(tx, organizationId)
          const count = await lists.count(tx, organizationId, entry_type)
          if (count >= limit) throw new ListFull({ limit })
          return lists.insert(tx, {
            id: ulid(now().getTime()),
            organization_id: organizationId,
            entry_type,
            entry,
            reason: sent.reason?.trim() || null,
            created_by: caller.email,
            created_at: now().toISOString(),
          })
        }),
      ),
    )
  }

  const remove = (caller: Caller, scope: Scope | null, id: string) =>
    settled(
      change(caller, async (tx) => {
        const removed = await lists.remove(tx, scope, id)
        if (!removed) throw new EntryNotFound()
        return removed
      }),
    )

  async function listed(
    organizationId: string | null,
    type: lists.EntryType | undefined,
    page: Page,
  ) {
    const { items, total } = await lists.list(db, organizationId, type, page)
    return paginated(items, total, page)
  }

  async function clicksOf(filter: clicks.ClickFilter, page: Page) {
    const { items, total } = await clicks.list(db, filter, page)
    return paginated(items, total, page)
  }

  return {
    async settings(caller: Caller, organizationId: string | undefined) {
      return settings.find(db, await ownerOf(caller, organizationId))
    },

    async saveSettings(caller: Caller, sent: { enabled: boolean; organization_id?: string }) {
      if (sent.enabled && config.SVC_PUBLIC_URL === undefined) throw new NoPublicUrl()
      const owner = await ownerOf(caller, sent.organization_id)
      return change(caller, async (tx) => {
        if (!(await lockOrganization(tx, owner))) throw new OrganizationNotFound()
        return settings.save(tx, owner, sent.enabled, now())
      })
    },

    list: async (
      caller: Caller,
      query: { organization_id?: string; entry_type?: lists.EntryType },
      page: Page,
    ) => listed(await ownerOf(caller, query.organization_id), query.entry_type, page),
    async create(caller: Caller, sent: SentEntry & { organization_id?: string }) {
      return add(caller, await ownerOf(caller, sent.organization_id), sent)
    },
    remove: (caller: Caller, id: string) => remove(caller, caller.scope, id),

    // For operators and services of this installation; null is the list for all organizations.
    listOf: listed,
    createFor: add,
    removeFor: remove,

    clicks(caller: Caller, { organization_id, ...filter }: clicks.ClickFilter, page: Page) {
      const organization = organizationOf(narrowed(caller.scope, organization_id))
      const narrow = organization === null ? {} : { organization_id: organization }
      return clicksOf({ ...filter, ...narrow }, page)
    },
    clicksOf,

    async scan(caller: Caller, sent: { url: string; organization_id?: string }) {
      return judge(sent.url, await ownerOf(caller, sent.organization_id))
    },
    /** For services of this installation, which may leave out the organization. */
    scanFor: (url: string, organizationId: string | undefined) => judge(url, organizationId ?? ''),

    /** For services that make a page and deliver it themselves. */
    async rewrite(html: string, organizationId: string) {
      if (config.SVC_PUBLIC_URL === undefined) throw new NoPublicUrl()
      const done = await rewrite(html, organizationId)
      return {
        rewritten_html: done?.page ?? html,
        urls_found: done?.found ?? 0,
        urls_rewritten: done?.rewritten ?? 0,
      }
    },

    async feeds() {
      return (await checkerOf(core)).feeds.states()
    },
    async keys() {
      return (await listKeys(db)).map(shownKey)
    },
    /** New links get the new key; those of the old one work for another year. */
    rotate: (caller: Caller) =>
      settled(change(caller, async (tx) => shownKey(await settings.rotateKey(tx, now())))),
  }

  async function judge(url: string, organizationId: string) {
    const parsed = URL.canParse(url) ? new URL(url) : undefined
    if (!parsed || !/^https?:$/.test(parsed.protocol)) {
      throw invalidField('url', 'Must be an address that starts with http:// or https://')
    }
    return { url, ...(await (await checkerOf(core)).check(organizationId, url)) }
  }
}

const shownKey = (key: { id: number; created_at: string; retired_at: string | null }) => ({
  ...key,
  ends_at: key.retired_at === null ? null : endOf(key.retired_at).toISOString(),
})

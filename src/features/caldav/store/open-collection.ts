import type { Db } from '../../../database/database.ts'
import { ulid } from '../../../lib/ulid.ts'
import type { Holder } from '../login/holder.ts'
import type { Kind } from '../protocol/places.ts'
import { CALENDAR_TIMEZONE, DAV, keyOf } from '../xml/names.ts'
import type { CollectionRow, Owner, SharedMailbox } from './collections.repository.ts'
import * as collections from './collections.repository.ts'
import { DOMAIN_BOOK, domainBookState, listPeople, namedPeople } from './domain-book.ts'
import * as objects from './objects.repository.ts'

/** A collection as one mailbox sees it. */
export interface OpenCollection {
  kind: Kind
  /** The last segment of its path in the home of the mailbox. */
  uri: string
  mayWrite: boolean
  /** Own collections can be deleted and renamed by their mailbox. */
  isOwn: boolean
  /** XML of the display name. */
  name: string
  /** XML content of the time zone in which dates and times without one count; undefined is UTC. */
  zone: string | undefined
  /** Undefined for the address book of the domain, which has no rows. */
  stored: (CollectionRow & { owner: Owner }) | undefined
  /** Changes with every change of the collection. */
  state(): Promise<string>
  list(withData: boolean, narrowing?: objects.Narrowing): AsyncGenerator<objects.StoredObject[]>
  named(names: readonly string[], withData: boolean): AsyncGenerator<objects.StoredObject[]>
}

/** Collections of shared mailboxes appear in the home of each member under names of this form. */
const SHARED = /^shared~([0-9A-Za-z]{1,26})~(.+)$/s
const sharedUri = (mailboxId: string, uri: string) => `shared~${mailboxId}~${uri}`

/** Names that a mailbox cannot give to a collection of its own. */
export const isReserved = (kind: Kind, uri: string): boolean =>
  SHARED.test(uri) || (kind === 'addressbook' && uri === DOMAIN_BOOK)

const DISPLAYNAME = keyOf(DAV, 'displayname')

function storedCollection(
  db: Db,
  row: CollectionRow,
  owner: Owner,
  seen: Pick<OpenCollection, 'uri' | 'mayWrite' | 'isOwn' | 'name'>,
): OpenCollection {
  return {
    ...seen,
    kind: row.kind,
    zone: row.properties[CALENDAR_TIMEZONE],
    stored: { ...row, owner },
    state: async () => String(row.seq),
    list: (withData, narrowing) => objects.list(db, row.id, withData, narrowing),
    named: (names, withData) => objects.named(db, row.id, names, withData),
  }
}

const ownCollection = (db: Db, row: CollectionRow, owner: Owner): OpenCollection =>
  storedCollection(db, row, owner, {
    uri: row.uri,
    mayWrite: true,
    isOwn: true,
    name: row.properties[DISPLAYNAME] ?? '',
  })

const sharedCollection = (db: Db, row: CollectionRow, mailbox: SharedMailbox): OpenCollection =>
  storedCollection(
    db,
    row,
    { shared_mailbox_id: mailbox.id },
    {
      uri: sharedUri(mailbox.id, row.uri),
      mayWrite: mailbox.permission === 'full_access',
      isOwn: false,
      name: `${row.properties[DISPLAYNAME] || row.uri} (${mailbox.email})`,
    },
  )

const domainBook = (db: Db, { id, email }: Holder): OpenCollection => ({
  kind: 'addressbook',
  uri: DOMAIN_BOOK,
  mayWrite: false,
  isOwn: false,
  name: email.slice(email.indexOf('@') + 1),
  zone: undefined,
  stored: undefined,
  state: () => domainBookState(db, id),
  list: () => listPeople(db, id),
  named: (names) => namedPeople(db, id, names),
})

/** All collections of one kind in the home of a mailbox: its own, shared ones, the domain's book. */
export async function openHome(db: Db, holder: Holder, kind: Kind): Promise<OpenCollection[]> {
  const owner = { account_id: holder.id }
  const own = await collections.list(db, owner, kind)
  const found = own.map((row) => ownCollection(db, row, owner))
  for (const mailbox of await collections.sharedWith(db, holder.id)) {
    const shared = { shared_mailbox_id: mailbox.id }
    await createDefaults(db, shared, mailbox.organization_id)
    const rows = await collections.list(db, shared, kind)
    found.push(...rows.map((row) => sharedCollection(db, row, mailbox)))
  }
  if (kind === 'addressbook') found.push(domainBook(db, holder))
  return found
}

export async function openCollection(
  db: Db,
  holder: Holder,
  kind: Kind,
  uri: string,
): Promise<OpenCollection | undefined> {
  if (kind === 'addressbook' && uri === DOMAIN_BOOK) return domainBook(db, holder)
  const [, mailboxId, sharedName = ''] = SHARED.exec(uri) ?? []
  if (mailboxId === undefined) {
    const owner = { account_id: holder.id }
    const row = await collections.find(db, owner, kind, uri)
    return row && ownCollection(db, row, owner)
  }
  const mailbox = (await collections.sharedWith(db, holder.id)).find(({ id }) => id === mailboxId)
  const row =
    mailbox && (await collections.find(db, { shared_mailbox_id: mailbox.id }, kind, sharedName))
  return row && sharedCollection(db, row, mailbox)
}

const DEFAULTS = [
  {
    kind: 'calendar' as const,
    uri: 'calendar',
    name: 'Calendar',
    components: ['VEVENT', 'VTODO', 'VJOURNAL', 'VFREEBUSY'],
  },
  { kind: 'calendar' as const, uri: 'tasks', name: 'Tasks', components: ['VTODO'] },
  { kind: 'addressbook' as const, uri: 'contacts', name: 'Contacts', components: [] },
]

/** Gives an owner without collections the usual ones. A deleted one does not come back. */
export async function createDefaults(
  db: Db,
  owner: Owner,
  organizationId: string,
): Promise<boolean> {
  if (await collections.hasAny(db, owner)) return false
  for (const { name, ...one } of DEFAULTS) {
    const properties = { [DISPLAYNAME]: name }
    await collections.insert(db, owner, {
      id: ulid(),
      organization_id: organizationId,
      properties,
      ...one,
    })
  }
  return true
}

import type { Caller } from '../../../access/caller.ts'
import { publicUrl } from '../../../config/index.ts'
import type { Core } from '../../../core.ts'
import type { Tx } from '../../../database/database.ts'
import { pastDays } from '../../../hosting/past-days.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { sha256 } from '../../../lib/tokens.ts'
import { ulid } from '../../../lib/ulid.ts'
import { taskIn } from '../../../lib/worker-pool.ts'
import { readXml, textOf } from '../../../lib/xml.ts'
import { FORBIDDEN_CHARACTERS, hasForbiddenCharacters } from '../objects/forbidden-characters.ts'
import type { ObjectFacts } from '../objects/read-object.task.ts'
import { collectionPath, type Kind, rootPath } from '../protocol/places.ts'
import { DISPLAYNAME } from '../protocol/properties.ts'
import * as collections from '../store/collections.repository.ts'
import * as objects from '../store/objects.repository.ts'
import { createDefaults } from '../store/open-collection.ts'
import { exceedsQuota } from '../store/quota.ts'
import { XML_LIMITS } from '../xml/names.ts'
import { escaped } from '../xml/write.ts'
import { cardFrom, nameOfCard } from './cards.ts'
import * as errors from './management.errors.ts'
import * as owners from './management.repository.ts'
import type { NewContact } from './management.schemas.ts'

const TIME_LIMIT_MS = 5000
/** Correspondents that one request adds at most. */
const MAX_COLLECTED = 500
const COLLECTED = { uri: 'collected', name: 'Collected addresses' }

const readTask = taskIn<typeof import('../objects/read-object.task.ts')>(
  'features/caldav/objects/read-object',
)
const contactsTask = taskIn<typeof import('./read-contacts.task.ts')>(
  'features/caldav/management/read-contacts',
)

type Needs = Pick<Core, 'change' | 'clickhouse' | 'config' | 'db' | 'now' | 'workers'>

export type ManagementService = ReturnType<typeof managementService>

/** Management of the calendars and contacts of mailboxes by tenants. */
export function managementService({ change, clickhouse, config, db, now, workers }: Needs) {
  async function ownerOf(caller: Caller, sent: string): Promise<owners.OwnerRow> {
    const found = await owners.findOwner(db, caller.scope, sent.trim().toLowerCase())
    if (!found) throw new errors.MailboxNotFound(sent)
    return found
  }

  async function list(caller: Caller, email: string, kind: Kind) {
    const { id, owner } = await ownerOf(caller, email)
    const rows = await owners.collectionsOf(db, owner, kind)
    const items = rows.map(({ uri, properties, ...row }) => ({
      ...row,
      name: nameIn(properties as Record<string, string>) || uri,
      path: 'account_id' in owner ? collectionPath(kind, id, uri) : null,
    }))
    return { items }
  }

  async function refuseMoreCollections(tx: Tx, owner: collections.Owner): Promise<void> {
    const used = await collections.usage(tx, owner)
    if (used.collections >= config.CALDAV_MAX_COLLECTIONS) throw new errors.CollectionsFull()
  }

  async function create(caller: Caller, email: string, kind: Kind, name: string | undefined) {
    const { owner, organization_id } = await ownerOf(caller, email)
    await change(caller, async (tx) => {
      await createDefaults(tx, owner, organization_id)
      if (name === undefined) return
      await refuseMoreCollections(tx, owner)
      const id = ulid()
      await collections.insert(tx, owner, {
        id,
        organization_id,
        kind,
        uri: id.toLowerCase(),
        properties: { [DISPLAYNAME]: escaped(name.trim()) },
        components: kind === 'calendar' ? ['VEVENT', 'VTODO', 'VJOURNAL', 'VFREEBUSY'] : [],
      })
    })
    return list(caller, email, kind)
  }

  /** The address book of this name, created when it is missing. */
  async function bookOf(
    tx: Tx,
    { owner, organization_id }: owners.OwnerRow,
    { uri, name }: { uri: string; name: string },
  ): Promise<collections.CollectionRow> {
    await createDefaults(tx, owner, organization_id)
    const present = await collections.find(tx, owner, 'addressbook', uri)
    if (!present) {
      await refuseMoreCollections(tx, owner)
      const values = { kind: 'addressbook' as const, uri, properties: { [DISPLAYNAME]: name } }
      await collections.insert(tx, owner, {
        id: ulid(),
        organization_id,
        components: [],
        ...values,
      })
    }
    const { id } = present ?? (await collections.find(tx, owner, 'addressbook', uri)) ?? { id: '' }
    return (await collections.lock(tx, id)) as collections.CollectionRow
  }

  async function putCard(tx: Tx, collectionId: string, uid: string, data: string): Promise<string> {
    const uri = nameOfCard(uid)
    const size = Buffer.byteLength(data)
    const facts: ObjectFacts = { uid, component: null, first_at: null, last_at: null }
    const object = { uri, etag: sha256(data).slice(0, 32), data, size, ...facts }
    await objects.put(tx, collectionId, object, { objects: 1, bytes: size }, now())
    return uri
  }

  return {
    calendars: (caller: Caller, email: string) => list(caller, email, 'calendar'),
    addressBooks: (caller: Caller, email: string) => list(caller, email, 'addressbook'),
    createCalendar: (caller: Caller, email: string, name?: string) =>
      create(caller, email, 'calendar', name),
    createAddressBook: (caller: Caller, email: string, name?: string) =>
      create(caller, email, 'addressbook', name),

    async contacts(caller: Caller, email: string, page: Page) {
      const { owner, organization_id } = await ownerOf(caller, email)
      const { rows, total } = await owners.contactsOf(db, owner, page)
      const limits = { owner: organization_id, timeLimitMs: TIME_LIMIT_MS }
      const texts = rows.map(({ start }) => start)
      const fields = texts.length > 0 ? await workers.run(contactsTask, texts, limits) : []
      const items = rows.map(({ uri, collection_id, uid, modified_at }, index) => ({
        id: uri,
        address_book_id: collection_id,
        uid,
        updated_at: modified_at,
        ...(fields[index] ?? { name: '', email_addresses: [], phone_numbers: [] }),
      }))
      return paginated(items, total, page)
    },

    async createContact(caller: Caller, email: string, { vcard, ...contact }: NewContact) {
      const found = await ownerOf(caller, email)
      const fields = [
        contact.name,
        ...(contact.email_addresses ?? []),
        ...(contact.phone_numbers ?? []),
      ]
      if (vcard === undefined && fields.every((one) => one === undefined)) {
        throw new errors.UnusableContact('send a vcard, a name, an address or a number')
      }
      const text = vcard ?? cardFrom(ulid(), contact)
      if (hasForbiddenCharacters(text)) throw new errors.UnusableContact(FORBIDDEN_CHARACTERS)
      const limits = { owner: found.organization_id, timeLimitMs: TIME_LIMIT_MS }
      const facts = await workers.run(readTask, { kind: 'addressbook', text }, limits)
      if ('condition' in facts) throw new errors.UnusableContact(facts.message)
      const growth = { objects: 1, bytes: Buffer.byteLength(text) }
      return change(caller, async (tx) => {
        const book = await bookOf(tx, found, { uri: 'contacts', name: 'Contacts' })
        if (await objects.findByUid(tx, book.id, facts.uid)) throw new errors.ContactExists()
        const used = await collections.usage(tx, found.owner)
        if (exceedsQuota(config, used, growth)) throw new errors.CollectionsFull()
        const id = await putCard(tx, book.id, facts.uid, text)
        return { id, address_book_id: book.id, uid: facts.uid }
      })
    },

    /**
     * Adds the people whom the mailbox has written to, those of most messages first, as long as there is
     * room. A contact that was deleted stays deleted.
     */
    async collect(caller: Caller, email: string) {
      const found = await ownerOf(caller, email)
      const past = pastDays({ db, clickhouse })
      const sentTo = await owners.correspondentsOf(db, past, found, MAX_COLLECTED)
      const addresses = sentTo.filter((address) => !/\p{Cc}/u.test(address))
      const added = await change(caller, async (tx) => {
        const book = await bookOf(tx, found, COLLECTED)
        const taken = await owners.takenNames(tx, book.id)
        const cards = addresses
          .filter((address) => !taken.has(nameOfCard(address)))
          .map((address) => ({
            uid: address,
            text: cardFrom(address, { email_addresses: [address] }),
          }))
        const used = await collections.usage(tx, found.owner)
        let count = 0
        for (const { uid, text } of cards) {
          const bytes = Buffer.byteLength(text)
          if (exceedsQuota(config, used, { objects: 1, bytes })) break
          await putCard(tx, book.id, uid, text)
          used.objects++
          used.bytes += bytes
          count++
        }
        if (count === 0 && cards.length > 0) throw new errors.CollectionsFull()
        return count
      })
      return { added, correspondents: addresses.length }
    },

    discovery: () => ({
      caldav_url: `${publicUrl(config)}${rootPath}`,
      carddav_url: `${publicUrl(config)}${rootPath}`,
      well_known: ['/.well-known/caldav', '/.well-known/carddav'],
      login: 'The address and the password of the mailbox',
    }),
  }
}

/** The text of a display name, which is stored as XML. */
function nameIn(properties: Record<string, string>): string {
  const content = properties[DISPLAYNAME] ?? ''
  return content.length > 10_000 ? '' : textOf(readXml(`<name>${content}</name>`, XML_LIMITS))
}

import { type Static, Type } from 'typebox'
import { Body, Nullable, Timestamp } from '../../../http/envelope.ts'
import { PageQuery } from '../../../http/paging.ts'

export const MailboxParams = Type.Object({
  email: Type.String({
    maxLength: 254,
    description: 'Address of a mailbox or shared mailbox',
    examples: ['jane@acme.example'],
  }),
})

export const Collection = Type.Object({
  id: Type.String(),
  name: Type.String({ description: 'As programs show it' }),
  path: Nullable(
    Type.String({
      description: 'Path at which programs find it; null for those of a shared mailbox',
    }),
  ),
  components: Type.Array(Type.String(), {
    description: 'Components that a calendar takes, such as VEVENT; empty for an address book',
  }),
  object_count: Type.Integer(),
  bytes: Type.Integer(),
  created_at: Timestamp,
})

export const CollectionList = Type.Object({ items: Type.Array(Collection) })

export const NewCollection = Body({
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      pattern: '\\S',
      description: 'Without a name the usual collections are created, if the mailbox has none',
    }),
  ),
})

export const ContactQuery = Type.Object({ ...PageQuery })

export const Contact = Type.Object({
  id: Type.String({ description: 'Name of the object in its address book' }),
  address_book_id: Type.String(),
  uid: Type.String(),
  name: Type.String(),
  email_addresses: Type.Array(Type.String()),
  phone_numbers: Type.Array(Type.String()),
  updated_at: Timestamp,
})

export const NewContact = Body({
  vcard: Type.Optional(
    Type.String({
      maxLength: 256 * 1024,
      description: 'A whole vCard, stored as it is; the other fields are then ignored',
    }),
  ),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 255, examples: ['Jane Doe'] })),
  email_addresses: Type.Optional(Type.Array(Type.String({ maxLength: 254 }), { maxItems: 20 })),
  phone_numbers: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 20 })),
})
export type NewContact = Static<typeof NewContact>

export const Collected = Type.Object({
  added: Type.Integer({ description: 'Contacts that were created by this request' }),
  correspondents: Type.Integer({ description: 'Addresses that the mailbox has written to' }),
})

export const Discovery = Type.Object({
  caldav_url: Type.String(),
  carddav_url: Type.String(),
  well_known: Type.Array(Type.String()),
  login: Type.String({ description: 'Name that programs log in with' }),
})

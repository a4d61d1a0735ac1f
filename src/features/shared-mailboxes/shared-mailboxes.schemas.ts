import { Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../http/envelope.ts'

const PERMISSIONS = ['full_access', 'send_as', 'send_on_behalf', 'read_only'] as const
export type Permission = (typeof PERMISSIONS)[number]

const STATUSES = ['active', 'inactive'] as const
const MAX_REPLY = 20_000

const named = {
  id: Type.String(),
  email: Type.String({ examples: ['support@acme.example'] }),
  name: Type.String({ examples: ['Support'] }),
  organization_id: Type.String(),
}

const SharedMailboxListItem = Type.Object(
  {
    ...named,
    status: OneOf(STATUSES),
    member_count: Type.Integer(),
    created_at: Timestamp,
  },
  { title: 'SharedMailboxListItem' },
)

export const SharedMailboxList = Type.Array(SharedMailboxListItem)

export const SharedMailbox = Type.Object(
  {
    ...named,
    mailbox_type: Type.Literal('shared'),
    status: OneOf(STATUSES),
    auto_reply_enabled: Type.Boolean(),
    auto_reply_message: Nullable(Type.String()),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'SharedMailbox' },
)

export const SharedMailboxDetail = Type.Object(
  {
    mailbox: SharedMailbox,
    members: Type.Array(
      Type.Object({
        email_account_id: Type.String(),
        member_email: Type.String({ examples: ['jane@acme.example'] }),
        member_name: Nullable(Type.String()),
        permission: OneOf(PERMISSIONS),
      }),
    ),
  },
  { title: 'SharedMailboxDetail' },
)

export const SharedMailboxQuery = Type.Object({
  organization_id: Type.Optional(Type.String({ description: 'Platform callers only' })),
  status: Type.Optional(OneOf(STATUSES, { description: 'inactive: the deleted ones' })),
  q: Type.Optional(Type.String({ description: 'Part of address or name' })),
  page: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Everything unless page or per_page is sent' }),
  ),
  per_page: Type.Optional(Type.Integer({ minimum: 1 })),
})

export const MailboxParams = Type.Object({ mailbox_id: Type.String() })
export const MemberParams = Type.Object({
  mailbox_id: Type.String(),
  member_account_id: Type.String({ description: 'An id or an address' }),
})

export const NewSharedMailbox = Body({
  email: Type.String({
    description: 'At a verified domain of the organization',
    examples: ['support@acme.example'],
  }),
  name: Type.String({ minLength: 1, maxLength: 255, examples: ['Support'] }),
  organization_id: Type.Optional(
    Type.Unknown({ description: 'Deprecated and ignored: the domain decides' }),
  ),
  auto_reply_enabled: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Answers each sender once a day; lists and automatic mail get no reply',
    }),
  ),
  auto_reply_message: Type.Optional(Nullable(Type.String({ maxLength: MAX_REPLY }))),
})

export const SharedMailboxChange = Body({
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 255, examples: ['Support'] })),
  auto_reply_enabled: Type.Optional(Type.Boolean()),
  auto_reply_message: Type.Optional(Nullable(Type.String({ maxLength: MAX_REPLY }))),
})

const PermissionField = Type.Optional(OneOf(PERMISSIONS, { default: 'full_access' }))

export const NewMember = Body({
  email_account_id: Type.String({
    description: 'Id or address of an active mailbox of the same organization',
    examples: ['jane@acme.example'],
  }),
  permission: PermissionField,
})

export const MemberChange = Body({
  email_account_id: Type.Optional(Type.Unknown({ description: 'Ignored: the path decides' })),
  permission: PermissionField,
})

export const Member = Type.Object({
  member_id: Type.String(),
  email_account_id: Type.String(),
  email: Type.String({ examples: ['jane@acme.example'] }),
  permission: OneOf(PERMISSIONS),
})

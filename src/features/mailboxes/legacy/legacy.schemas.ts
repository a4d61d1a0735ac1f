import { Type } from 'typebox'
import { Body, Nullable, Timestamp } from '../../../http/envelope.ts'
import { FreeForm } from '../../organizations/organizations.schemas.ts'
import { EmailAccount, NewPassword } from '../mailboxes.schemas.ts'

export const AddBody = Body({
  local_part: Type.String({ examples: ['jane'] }),
  domain: Type.String({ examples: ['acme.example'] }),
  password: NewPassword,
  name: Type.Optional(Nullable(Type.String({ examples: ['Jane Doe'] }))),
  quota: Type.Optional(
    Type.Integer({
      minimum: 0,
      default: 5368709120,
      description: 'Bytes; left out, 0 when the domain has less than the default left to allot',
    }),
  ),
  active: Type.Optional(Type.Integer({ minimum: 0, maximum: 1, default: 1 })),
  email: Type.Optional(
    Type.String({ description: 'Must equal local_part@domain', examples: ['jane@acme.example'] }),
  ),
})

export const Added = Type.Object({
  user_id: Type.String({ description: 'Id of the account' }),
  email: Type.String({ examples: ['jane@acme.example'] }),
})

export const MailboxIdParams = Type.Object({
  mailbox_id: Type.String({
    description: 'An address, an id, or `all` for every active mailbox',
    examples: ['all'],
  }),
})
export const MailboxParams = Type.Object({
  mailbox: Type.String({ description: 'The address', examples: ['jane@acme.example'] }),
})
export const OrganizationQuery = Type.Object({
  organization_id: Type.Optional(
    Type.String({ description: 'Platform callers only; narrows `all`' }),
  ),
})

export const Mailboxes = Type.Array(
  Type.Object(
    {
      ...EmailAccount.properties,
      domain_name: Type.String({ examples: ['acme.example'] }),
      stats: Type.Object({
        message_count: Type.Integer(),
        total_size: Type.Integer({ description: 'Bytes' }),
      }),
      quota_usage_percent: Type.Number(),
    },
    { title: 'Mailbox' },
  ),
)

export const EditBody = Body({
  items: Type.Array(Type.String(), { description: 'Addresses', examples: [['jane@acme.example']] }),
  attr: FreeForm('name, quota (bytes), active, password; others are ignored', {
    name: 'Jane Doe',
  }),
})

const Result = {
  mailbox: Type.String({ examples: ['jane@acme.example'] }),
  status: Type.String({ examples: ['success'] }),
  msg: Type.String(),
}

export const Edited = Type.Array(Type.Object(Result))

export const DeleteBody = Type.Array(Type.String(), { examples: [['jane@acme.example']] })

export const Deleted = Type.Array(
  Type.Object({
    ...Result,
    stats: Type.Optional(
      Type.Object({
        aliases_deleted: Type.Integer({
          description: 'Number of aliases that led to this mailbox only',
        }),
        messages_deleted: Type.Integer({ description: 'Always 0' }),
      }),
    ),
  }),
)

export const Quota = Type.Object({
  email: Type.String(),
  storage_quota: Type.Integer({ description: "Bytes; 0 = the domain's applies" }),
  storage_used: Type.Integer(),
  usage_percent: Type.Number(),
  available: Nullable(
    Type.Integer({ description: 'Bytes; of the domain where the mailbox has no limit of its own' }),
  ),
  folder_breakdown: Type.Array(FreeForm('Not stored; always empty'), { examples: [[]] }),
})

export const QuotaBody = Body({
  mailbox: Type.String({ examples: ['jane@acme.example'] }),
  quota: Type.Integer({ minimum: 0, description: 'Bytes', examples: [1073741824] }),
})

export const Stats = Type.Object({
  mailbox_info: Type.Object({
    email: Type.String(),
    created: Timestamp,
    last_login: Nullable(Timestamp),
    storage_quota: Type.Integer(),
    storage_used: Type.Integer(),
  }),
  message_stats: Type.Object(
    {
      total_messages: Type.Integer(),
      unread_messages: Nullable(Type.Integer()),
      avg_message_size: Type.Integer({ description: 'Bytes' }),
      largest_message_size: Nullable(Type.Integer()),
      oldest_message: Nullable(Timestamp),
      newest_message: Nullable(Timestamp),
    },
    { description: 'null: only the mail store knows' },
  ),
  login_stats: Type.Object(
    {
      total_logins: Type.Integer(),
      last_login: Nullable(Timestamp),
      unique_ips: Type.Integer(),
    },
    { description: 'Sign-ins of the holder to this API in the last 30 days' },
  ),
})

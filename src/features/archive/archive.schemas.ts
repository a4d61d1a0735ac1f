import { Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../http/envelope.ts'
import { PageQuery } from '../../http/paging.ts'

const DIRECTIONS = ['inbound', 'outbound'] as const
const STORAGE_TYPES = ['spool', 's3', 'local'] as const

const ReasonText = {
  minLength: 10,
  maxLength: 2000,
  description: 'Stored in the audit log',
  examples: ['Asked for by the legal department'],
}
export const Reason = Type.String(ReasonText)

/** Tenants have their own organization; platform callers name one, and why they look. */
export const WhoseQuery = {
  organization_id: Type.Optional(Type.String({ description: 'Required of platform callers' })),
  reason: Type.Optional(
    Type.String({
      maxLength: ReasonText.maxLength,
      description: 'Required of platform callers; stored in the audit log',
    }),
  ),
}
export const Whose = Type.Object(WhoseQuery)

export const ArchivedMessage = Type.Object(
  {
    id: Type.String(),
    message_id: Nullable(Type.String({ examples: ['<20261115.1@acme.example>'] })),
    sender: Type.String({ examples: ['ada@acme.example'], description: 'Empty for a bounce' }),
    recipients: Type.Array(Type.String(), { examples: [['bob@globex.example']] }),
    subject: Nullable(Type.String({ examples: ['The offer'] })),
    direction: OneOf(DIRECTIONS),
    received_at: Timestamp,
    archived_at: Timestamp,
    size: Type.Integer({ description: 'Bytes of the message' }),
    stored_size: Type.Integer({ description: 'Bytes of its sealed object' }),
    storage_type: OneOf(STORAGE_TYPES, {
      description: 'spool: on the disk of the mail host, before its upload',
    }),
  },
  { title: 'ArchivedMessage' },
)

export const SearchQuery = Type.Object({
  ...PageQuery,
  ...WhoseQuery,
  q: Type.Optional(
    Type.String({ maxLength: 500, description: 'Beginnings of words of subject and addresses' }),
  ),
  subject: Type.Optional(
    Type.String({ maxLength: 500, description: 'Beginnings of words of the subject' }),
  ),
  sender: Type.Optional(Type.String({ maxLength: 320, description: 'Exact' })),
  recipient: Type.Optional(Type.String({ maxLength: 320, description: 'Exact' })),
  message_id: Type.Optional(Type.String({ maxLength: 998, description: 'Exact' })),
  direction: Type.Optional(OneOf(DIRECTIONS)),
  start_date: Type.Optional(Type.String({ description: 'ISO date or datetime' })),
  end_date: Type.Optional(Type.String({ description: 'ISO date or datetime' })),
})

export const ArchiveParams = Type.Object({ archive_id: Type.String() })
export const JobParams = Type.Object({ archive_job_id: Type.String() })

export const Deliberate = Body({ reason: Reason })
export const DeletedMessage = Type.Object({ archive_id: Type.String() })

export const Settings = Type.Object(
  {
    organization_id: Type.String(),
    available: Type.Boolean({ description: 'This installation has storage for an archive' }),
    enabled: Type.Boolean({ description: 'New mail of the organization is archived' }),
    recipient: Nullable(
      Type.String({
        description: 'The age recipient of the organization; null before its first message',
        examples: ['age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p'],
      }),
    ),
    own_recipient: Type.Boolean({
      description: 'The organization brought the recipient, and alone has its identity',
    }),
    messages: Type.Integer(),
    bytes: Type.Integer({ description: 'Bytes of the sealed objects' }),
    waiting: Type.Integer({ description: 'Messages before their upload' }),
  },
  { title: 'ArchiveSettings' },
)

export const NewSettings = Body({
  enabled: Type.Optional(Type.Boolean()),
  recipient: Type.Optional(
    Nullable(
      Type.String({
        maxLength: 100,
        description: 'An age recipient; null: a new key that this host keeps',
      }),
    ),
  ),
  reason: Reason,
})

const KINDS = ['import', 'rekey'] as const

export const ArchiveJob = Type.Object(
  {
    id: Type.String(),
    organization_id: Type.String(),
    kind: OneOf(KINDS),
    email: Nullable(Type.String({ examples: ['ada@acme.example'] })),
    status: OneOf(['queued', 'running', 'completed', 'failed']),
    total: Nullable(Type.Integer({ description: 'Messages to look at; null before the start' })),
    done: Type.Integer(),
    added: Type.Integer({ description: 'Messages that were archived or sealed anew' }),
    failed: Type.Integer(),
    error: Nullable(Type.String()),
    created_by: Type.String(),
    created_at: Timestamp,
    finished_at: Nullable(Timestamp),
  },
  { title: 'ArchiveJob' },
)

export const NewJob = Body({
  kind: OneOf(KINDS, {
    description: 'import: the mail of a mailbox; rekey: seal all messages for the current keys',
  }),
  email: Type.Optional(
    Type.String({
      maxLength: 254,
      description: 'The mailbox of an import',
      examples: ['ada@acme.example'],
    }),
  ),
  reason: Reason,
})

export const JobQuery = Type.Object({ ...PageQuery, ...WhoseQuery })

export const NewKey = Body({
  new_platform_key: Type.Optional(
    Type.Boolean({ description: 'Also replace the key of the platform', default: false }),
  ),
  reason: Reason,
})
export const JobsStarted = Type.Object({ jobs: Type.Integer() })

export const SpoolStatus = Type.Object(
  {
    storage_type: Nullable(OneOf(['s3', 'local'])),
    spools: Type.Array(
      Type.Object({
        spool_id: Type.String(),
        host: Type.String(),
        messages: Type.Integer({ description: 'Messages that wait for their upload' }),
        bytes: Type.Integer(),
        oldest_at: Nullable(Timestamp),
        failures: Type.Integer({ description: 'Messages that could not be archived' }),
        problem: Nullable(Type.String({ description: 'Reason that nothing is uploaded' })),
        problem_since: Nullable(Timestamp),
        seen_at: Timestamp,
      }),
    ),
    deletions: Type.Integer({ description: 'Objects that are still to be deleted' }),
    overdue_deletions: Type.Integer({
      description: 'Objects among them that could not be deleted for 2 hours',
    }),
    last_check: Nullable(
      Type.Object({
        begun_at: Timestamp,
        finished_at: Nullable(Timestamp),
        checked: Type.Integer(),
        damaged: Type.Integer(),
      }),
    ),
  },
  { title: 'ArchiveSpoolStatus' },
)

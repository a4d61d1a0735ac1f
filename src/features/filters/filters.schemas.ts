import { Type } from 'typebox'
import { Body, Nullable, Timestamp } from '../../http/envelope.ts'
import { PageQuery } from '../../http/paging.ts'

const Email = Type.String({
  minLength: 1,
  maxLength: 320,
  description: 'E-mail address of the mailbox',
  examples: ['jane@acme.example'],
})

export const FilterQuery = Type.Object({ email: Email })
export const FilterListQuery = Type.Object({ email: Email, ...PageQuery })
export const TemplateQuery = Type.Object(PageQuery)
export const FilterParams = Type.Object({ name: Type.String() })

export const Script = Type.Object(
  {
    name: Type.String({ examples: ['newsletters'] }),
    content: Type.String({ examples: ['require ["fileinto"];\r\nfileinto "Newsletters";\r\n'] }),
    active: Type.Boolean({ description: 'The script runs on incoming mail' }),
    size: Type.Integer({ description: 'Size in bytes' }),
    created_at: Nullable(Timestamp),
    managed: Type.Boolean({
      description: "Written by the mailbox holder's settings pages; cannot be changed here",
    }),
  },
  { title: 'FilterScript' },
)

export const Template = Type.Object(
  {
    id: Type.String({ examples: ['move_sender'] }),
    name: Type.String(),
    description: Type.String(),
    sieve_content: Type.String(),
  },
  { title: 'FilterTemplate' },
)

const replace = Type.Optional(
  Type.Boolean({
    default: false,
    description: "Deactivate a script that the mailbox holder's own mail client has activated",
  }),
)

export const NewScript = Body({
  name: Type.String({ description: 'Letters, digits, _ and -', examples: ['newsletters'] }),
  content: Type.String({ description: 'Sieve, RFC 5228', examples: ['keep;'] }),
  active: Type.Optional(Type.Boolean({ default: false })),
  replace,
})

export const ActivateBody = Type.Optional(Body({ replace }))

export const SavedScript = Type.Object({
  name: Type.String({ examples: ['newsletters'] }),
  active: Type.Boolean(),
})

export const DeletedScript = Type.Object({ name: Type.String({ examples: ['newsletters'] }) })

const Day = Type.Optional(
  Nullable(Type.String({ maxLength: 40, description: 'ISO date', examples: ['2026-12-24'] })),
)

export const VacationBody = Body({
  enabled: Type.Boolean(),
  subject: Type.Optional(Type.String({ maxLength: 500, default: 'Out of Office' })),
  message: Type.Optional(
    Nullable(Type.String({ maxLength: 20_000, examples: ['Back on Monday.'] })),
  ),
  start_date: Day,
  end_date: Day,
  reply_interval: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 31_536_000,
      default: 86_400,
      description: 'Seconds between replies to one sender; whole days, at least one',
    }),
  ),
  external_only: Type.Optional(
    Type.Boolean({ default: false, description: 'Send no reply to senders of the same domain' }),
  ),
  replace,
})

export const VacationState = Type.Object({ enabled: Type.Boolean() })

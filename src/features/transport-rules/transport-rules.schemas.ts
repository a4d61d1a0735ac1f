import { Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../http/envelope.ts'
import { PageQuery } from '../../http/paging.ts'
import { ACTION_TYPES, FIELDS, MAX_ACTIONS, MAX_CONDITIONS, OPERATORS } from './vocabulary.ts'

const DIRECTIONS = ['inbound', 'outbound', 'both'] as const
const LOGICS = ['all', 'any'] as const
const MAX_VALUE_LENGTH = 1000
const MAX_REORDERED = 1000

const Condition = Type.Object({
  field: OneOf(FIELDS),
  operator: OneOf(OPERATORS),
  value: Type.String({
    maxLength: MAX_VALUE_LENGTH,
    description:
      'Always a string. For `header`: `Name: text`. For `size`: bytes. For `has_attachment`: true or false',
    examples: ['ceo@acme.example'],
  }),
})

const text = (description: string) => Type.Optional(Type.String({ description }))

const Params = Type.Object(
  {
    name: text('add_header: name of the field'),
    value: text('add_header: its text'),
    prefix: text('modify_subject: added in front, once'),
    suffix: text('modify_subject: added at the end, once'),
    replace: text('modify_subject: replaces the subject'),
    address: text('redirect, bcc: target e-mail address'),
    message: text('reject: reply to the sender; ASCII'),
    text: text('add_disclaimer: for plain text'),
    html: text('add_disclaimer: for HTML; without it the text is used'),
    position: text('add_disclaimer: start or end, which is the default'),
    reason: text('quarantine: reason, shown to operators'),
  },
  { description: 'Parameters of the action; others are ignored' },
)

const Action = Type.Object({ type: OneOf(ACTION_TYPES), params: Type.Optional(Params) })

export const TransportRule = Type.Object(
  {
    id: Type.String(),
    organization_id: Type.String(),
    name: Type.String({ examples: ['Disclaimer'] }),
    description: Nullable(Type.String()),
    direction: OneOf(DIRECTIONS),
    conditions: Type.Array(Condition),
    condition_logic: OneOf(LOGICS),
    actions: Type.Array(Type.Object({ type: OneOf(ACTION_TYPES), params: Params })),
    priority: Type.Integer({
      description: 'Rules with a lower number apply first',
      examples: [100],
    }),
    enabled: Type.Boolean(),
    hit_count: Type.Integer({
      description: 'Number of matched messages; updated about every second',
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'TransportRule' },
)

export const RuleParams = Type.Object({ rule_id: Type.String() })

const organization_id = Type.Optional(
  Type.String({ description: 'Required for platform callers; ignored for tenants' }),
)

export const RuleQuery = Type.Object({
  ...PageQuery,
  enabled_only: Type.Optional(Type.Boolean({ default: false })),
  organization_id: Type.Optional(Type.String({ description: 'For platform callers' })),
})

export const RuleBody = Body({
  organization_id,
  name: Type.String({ minLength: 1, maxLength: 255 }),
  description: Type.Optional(Nullable(Type.String({ maxLength: 2000 }))),
  direction: Type.Optional(OneOf(DIRECTIONS, { default: 'both' })),
  conditions: Type.Array(Condition, { minItems: 1, maxItems: MAX_CONDITIONS }),
  condition_logic: Type.Optional(OneOf(LOGICS, { default: 'all' })),
  actions: Type.Array(Action, { minItems: 1, maxItems: MAX_ACTIONS }),
  priority: Type.Optional(
    Type.Integer({ minimum: -2_147_483_648, maximum: 2_147_483_647, default: 100 }),
  ),
  enabled: Type.Optional(Type.Boolean({ default: true })),
})

export const EnableQuery = Type.Object({ enabled: Type.Boolean() })
export const RuleSwitched = Type.Object({ id: Type.String(), enabled: Type.Boolean() })
export const RuleDeleted = Type.Object({ id: Type.String() })

export const ReorderBody = Body({
  rule_ids: Type.Array(Type.String(), {
    minItems: 1,
    maxItems: MAX_REORDERED,
    description: 'In the new order; rules that are not listed keep their priority',
  }),
})
export const Reordered = Type.Object({
  rules: Type.Array(Type.Object({ id: Type.String(), priority: Type.Integer() })),
})

export const TrialBody = Body({
  organization_id,
  direction: Type.Optional(OneOf(['inbound', 'outbound'], { default: 'outbound' })),
  sender: Type.String({ maxLength: 320, examples: ['ada@acme.example'] }),
  recipients: Type.Array(Type.String({ minLength: 1, maxLength: 320 }), {
    minItems: 1,
    maxItems: 100,
    examples: [['grace@globex.example']],
  }),
  subject: Type.Optional(
    Type.String({ maxLength: 1000, description: 'Used when `message` is omitted' }),
  ),
  message: Type.Optional(
    Type.String({ maxLength: 500_000, description: 'The whole message, as RFC 5322 text' }),
  ),
})

export const Trial = Type.Object({
  outcome: OneOf(['pass', 'reject', 'quarantine'], {
    description: 'quarantine: for at least one recipient',
  }),
  reject_message: Nullable(Type.String()),
  rules: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      matched: Type.Boolean(),
      recipients: Type.Array(Type.String(), { description: 'Recipients that the rule matched' }),
    }),
  ),
  messages: Type.Array(
    Type.Object({
      recipients: Type.Array(Type.String()),
      quarantined: Type.Boolean(),
      notes: Type.Array(Type.String(), { description: 'Actions that would not be carried out' }),
      message: Type.String({ description: 'The message after the rules were applied' }),
      truncated: Type.Boolean({
        description: '`message` is only the beginning: all messages together have at most 400 kB',
      }),
    }),
  ),
})

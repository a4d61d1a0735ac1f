import { Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../http/envelope.ts'
import { PageQuery } from '../../http/paging.ts'
import { ACTION_TYPES, FIELDS, MAX_ACTIONS, MAX_CONDITIONS, OPERATORS } from './vocabulary.ts'

const DIRECTIONS = ['inbound', 'outbound', 'both'] as const
const LOGICS = ['all', 'any'] as const
const MAX_VALUE = 1000
const MAX_LISTED = 1000

const Condition = Type.Object({
  field: OneOf(FIELDS),
  operator: OneOf(OPERATORS),
  value: Type.String({
    maxLength: MAX_VALUE,
    description:
      'Always text. Of `header`: `Name: text`. Of `size`: bytes. Of `has_attachment`: true or false',
    examples: ['ceo@acme.example'],
  }),
})

const text = (description: string) => Type.Optional(Type.String({ description }))

const Params = Type.Object(
  {
    name: text('add_header: name of the field'),
    value: text('add_header: its text'),
    prefix: text('modify_subject: goes in front, once'),
    suffix: text('modify_subject: goes behind, once'),
    replace: text('modify_subject: takes the place of the subject'),
    address: text('redirect, bcc: where to'),
    message: text('reject: what the sender reads; ASCII'),
    text: text('add_disclaimer: for plain text'),
    html: text('add_disclaimer: for HTML; without it the text is used'),
    position: text('add_disclaimer: start or end, which is the default'),
    reason: text('quarantine: why, for the operators'),
  },
  { description: 'What the action takes; anything else is dropped' },
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
    priority: Type.Integer({ description: 'Lower ones come first', examples: [100] }),
    enabled: Type.Boolean(),
    hit_count: Type.Integer({ description: 'Messages it matched; counted within a second' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'TransportRule' },
)

export const RuleParams = Type.Object({ rule_id: Type.String() })

const organization_id = Type.Optional(
  Type.String({ description: 'Needed from platform callers; a tenant is always its own' }),
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
    maxItems: MAX_LISTED,
    description: 'In the order wanted; rules that are not listed keep their priority',
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
    Type.String({ maxLength: 1000, description: 'Where no message is sent along' }),
  ),
  message: Type.Optional(
    Type.String({ maxLength: 500_000, description: 'The whole message, as RFC 5322 text' }),
  ),
})

export const Trial = Type.Object({
  outcome: OneOf(['pass', 'reject', 'quarantine'], {
    description: 'quarantine: for some recipients at least',
  }),
  reject_message: Nullable(Type.String()),
  rules: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      matched: Type.Boolean(),
      recipients: Type.Array(Type.String(), { description: 'For whom it matched' }),
    }),
  ),
  messages: Type.Array(
    Type.Object({
      recipients: Type.Array(Type.String()),
      quarantined: Type.Boolean(),
      notes: Type.Array(Type.String(), { description: 'Actions that would not be carried out' }),
      message: Type.String({ description: 'As it would go on' }),
    }),
  ),
})

import { Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../../http/envelope.ts'
import { PageQuery } from '../../../http/paging.ts'
import { SortQuery } from '../../../http/sorting.ts'
import { DETECTORS } from './detectors.ts'
import { ACTIONS, DIRECTIONS, MAX_PATTERNS, POLICY_TYPES, SEVERITIES } from './vocabulary.ts'

const text = (description: string) => Type.Optional(Type.String({ description }))
const organization_id = text('Exact')
const MAX_ID = 2_147_483_647

export const PolicyParams = Type.Object({
  policy_id: Type.Integer({ minimum: 1, maximum: MAX_ID }),
})
export const ViolationParams = Type.Object({
  violation_id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
})

export const PolicyQuery = Type.Object({
  organization_id,
  policy_type: Type.Optional(OneOf(POLICY_TYPES)),
  severity: Type.Optional(OneOf(SEVERITIES)),
  apply_to: Type.Optional(OneOf(DIRECTIONS)),
  enabled: Type.Optional(Type.Boolean()),
  q: text('Part of name or description'),
  ...SortQuery(['created_at', 'updated_at', 'name', 'severity']),
  ...PageQuery,
})

export const Policy = Type.Object(
  {
    id: Type.Integer(),
    organization_id: Type.String(),
    organization_name: Type.String({ examples: ['Acme'] }),
    name: Type.String({ examples: ['Card numbers'] }),
    description: Nullable(Type.String()),
    policy_type: OneOf(POLICY_TYPES),
    patterns: Type.Array(Type.String(), { examples: [['credit_card', 'iban']] }),
    action: OneOf(ACTIONS),
    severity: OneOf(SEVERITIES),
    enabled: Type.Boolean(),
    apply_to: OneOf(DIRECTIONS),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'DlpPolicy' },
)

const fields = {
  name: Type.String({ minLength: 1, maxLength: 255 }),
  description: Nullable(Type.String({ maxLength: 2000 })),
  policy_type: OneOf(POLICY_TYPES, { default: 'keyword' }),
  patterns: Type.Array(Type.String(), {
    maxItems: MAX_PATTERNS,
    description: `keyword: words and phrases. regex: RE2 expressions. pii: ${Object.keys(DETECTORS).join(', ')}. file_type: extensions and MIME types`,
    examples: [['confidential']],
  }),
  action: OneOf(ACTIONS, { default: 'notify' }),
  severity: OneOf(SEVERITIES, { default: 'medium' }),
  enabled: Type.Boolean({ default: true }),
  apply_to: OneOf(DIRECTIONS, { default: 'outbound' }),
}
const reason = Type.String({ minLength: 1, description: 'Stored in the audit log' })

export const NewPolicy = Body({
  organization_id: Type.String(),
  name: fields.name,
  description: Type.Optional(fields.description),
  policy_type: Type.Optional(fields.policy_type),
  patterns: fields.patterns,
  action: Type.Optional(fields.action),
  severity: Type.Optional(fields.severity),
  enabled: Type.Optional(fields.enabled),
  apply_to: Type.Optional(fields.apply_to),
  reason,
})

export const PolicyChange = Body({
  name: Type.Optional(fields.name),
  description: Type.Optional(fields.description),
  policy_type: Type.Optional(OneOf(POLICY_TYPES)),
  patterns: Type.Optional(fields.patterns),
  action: Type.Optional(OneOf(ACTIONS)),
  severity: Type.Optional(OneOf(SEVERITIES)),
  enabled: Type.Optional(Type.Boolean()),
  apply_to: Type.Optional(OneOf(DIRECTIONS)),
  reason,
})

export const Reason = Body({ reason })

export const PolicyDeleted = Type.Object({
  id: Type.Integer(),
  organization_id: Type.String(),
  violations_retained: Type.Integer(),
})

export const ViolationQuery = Type.Object({
  organization_id,
  policy_id: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_ID })),
  severity: Type.Optional(OneOf(SEVERITIES)),
  violation_type: text('Exact: a kind of personal data, keyword, regex or file_type'),
  action_taken: Type.Optional(OneOf(ACTIONS)),
  date_from: text('ISO date or datetime, inclusive'),
  date_to: text('ISO date or datetime, inclusive; a date means the end of that day'),
  q: text('Part of sender or recipient'),
  ...SortQuery(['created_at', 'severity', 'sender']),
  ...PageQuery,
})

export const Violation = Type.Object(
  {
    id: Type.Integer(),
    organization_id: Type.String(),
    organization_name: Type.String({ examples: ['Acme'] }),
    policy_id: Type.Integer(),
    policy_name: Nullable(Type.String({ description: 'null when the policy was deleted' })),
    policy_type: Nullable(Type.String()),
    message_id: Nullable(Type.String()),
    sender: Type.String(),
    recipient: Nullable(Type.String()),
    violation_type: Type.String({ examples: ['credit_card'] }),
    action_taken: Type.String({ examples: ['block'] }),
    severity: Type.String({ examples: ['high'] }),
    has_match: Type.Boolean(),
    matched_pattern: Type.Null({ description: 'Always null' }),
    details: Type.Null({ description: 'Always null' }),
    redacted: Type.Literal(true),
    created_at: Timestamp,
  },
  { title: 'DlpViolation' },
)

export const SummaryQuery = Type.Object({
  organization_id,
  days: Type.Optional(Type.Integer({ minimum: 1, maximum: 365, default: 30 })),
})

const countsBy = <const Name extends string>(name: Name) =>
  Type.Array(Type.Object({ [name]: Type.String(), count: Type.Integer() }))

export const Summary = Type.Object({
  total: Type.Integer({ description: 'All violations, without a time limit' }),
  days: Type.Integer(),
  by_severity: countsBy('severity'),
  by_policy: Type.Array(
    Type.Object({
      policy_id: Type.Integer(),
      policy_name: Nullable(Type.String()),
      count: Type.Integer(),
    }),
    { description: 'The 25 policies with the most violations' },
  ),
  by_action_taken: countsBy('action_taken'),
  series: Type.Array(
    Type.Object({
      date: Type.String({ format: 'date', examples: ['2026-11-15'] }),
      count: Type.Integer(),
    }),
    { description: 'One entry per day, oldest first, including today' },
  ),
})

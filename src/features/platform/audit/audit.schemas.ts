import { Type } from 'typebox'
import { Nullable, OneOf, Timestamp } from '../../../http/envelope.ts'
import { PageQuery } from '../../../http/paging.ts'

const exact = (description: string) => Type.Optional(Type.String({ description }))

export const AuditQuery = Type.Object({
  ...PageQuery,
  operator_id: exact('Exact'),
  operator_email: exact('Exact'),
  action: exact('Exact, one of the facets'),
  target_type: exact('Exact, one of the facets'),
  target_id: exact('Exact'),
  organization_id: exact('Exact'),
  result: Type.Optional(OneOf(['success', 'failure'])),
  caller_scope: Type.Optional(OneOf(['platform', 'organization'])),
  correlation_id: exact('Exact'),
  date_from: exact('ISO date or datetime, inclusive'),
  date_to: exact('ISO date or datetime, inclusive; a date means the end of that day'),
  q: exact('Part of action, target id or operator e-mail address'),
})

export const AuditEntry = Type.Object(
  {
    id: Type.Integer(),
    operator_id: Nullable(Type.String()),
    operator_email: Nullable(Type.String()),
    api_key_id: Nullable(Type.String({ description: 'The API key that made the request' })),
    caller_scope: Nullable(Type.String()),
    action: Type.String({ examples: ['create_operator'] }),
    target_type: Nullable(Type.String({ examples: ['operator_id'] })),
    target_id: Nullable(Type.String()),
    organization_id: Nullable(Type.String()),
    request_body: Nullable(
      Type.Object({}, { additionalProperties: true, description: 'Without secrets' }),
    ),
    result: OneOf(['success', 'failure']),
    status_code: Type.Integer({
      examples: [201],
      description:
        '202 for a change of the mail queue that begins; its outcome is in another row with the same correlation_id',
    }),
    ip_address: Type.String({ examples: ['192.0.2.7'] }),
    correlation_id: Nullable(Type.String()),
    created_at: Timestamp,
  },
  { title: 'AuditEntry' },
)

export const AuditFacets = Type.Object({
  actions: Type.Array(Type.String({ examples: ['create_operator'] })),
  target_types: Type.Array(Type.String({ examples: ['operator_id'] })),
  operators: Type.Array(Type.Object({ id: Type.String(), email: Type.String() })),
})

export const AuditParams = Type.Object({
  audit_id: Type.Integer({ maximum: Number.MAX_SAFE_INTEGER }),
})

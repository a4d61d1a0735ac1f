import { Type } from 'typebox'
import { Nullable } from '../../../http/envelope.ts'

export const LogsQuery = Type.Object({
  service: Type.Optional(
    Type.String({ description: 'One of available_services; all when absent' }),
  ),
  level: Type.Optional(
    Type.String({
      description: 'At least this: DEBUG, INFO, WARNING, ERROR or CRITICAL, in any case',
      examples: ['WARNING'],
    }),
  ),
  q: Type.Optional(Type.String({ description: 'Part of the message, in any case' })),
  correlation_id: Type.Optional(Type.String({ description: 'Exact' })),
  since: Type.Optional(Type.String({ description: 'ISO date or datetime' })),
  lines: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: 500,
      description: 'The newest ones; more than 2000 means 2000',
    }),
  ),
})

export const LogLines = Type.Object({
  lines: Type.Array(
    Type.Object(
      {
        timestamp: Nullable(Type.String({ examples: ['2026-11-15T10:00:00.000Z'] })),
        service: Type.String({ examples: ['api'] }),
        level: Nullable(Type.String({ examples: ['INFO'] })),
        message: Type.String({ description: 'Without secrets' }),
        correlation_id: Nullable(Type.String()),
      },
      { title: 'LogLine' },
    ),
  ),
  truncated: Type.Boolean({ description: 'There is more than is shown' }),
  source: Type.String({ examples: ['files'] }),
  available_services: Type.Array(Type.String()),
})

import { Type } from 'typebox'
import { Nullable, OneOf } from '../../../http/envelope.ts'

export const LogsQuery = Type.Object({
  service: Type.Optional(
    Type.String({ description: 'One of available_services; all when absent' }),
  ),
  source: Type.Optional(
    OneOf(['mailplane', 'mail_servers'], {
      description:
        'Only services of Mailplane, or only Postfix, Dovecot and Rspamd; both when absent',
    }),
  ),
  level: Type.Optional(
    Type.String({
      description: 'Lowest level: DEBUG, INFO, WARNING, ERROR or CRITICAL; case does not matter',
      examples: ['WARNING'],
    }),
  ),
  q: Type.Optional(Type.String({ description: 'Part of the message; case does not matter' })),
  correlation_id: Type.Optional(Type.String({ description: 'Exact' })),
  since: Type.Optional(Type.String({ description: 'ISO date or datetime' })),
  lines: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: 500,
      description: 'Number of newest lines to return; values above 2000 are treated as 2000',
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
        message: Type.String({ description: 'Secrets are redacted' }),
        correlation_id: Nullable(Type.String()),
      },
      { title: 'LogLine' },
    ),
  ),
  truncated: Type.Boolean({ description: 'There are more lines than returned' }),
  source: Type.String({ examples: ['files'] }),
  available_services: Type.Array(Type.String()),
})

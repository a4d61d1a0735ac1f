import { Type } from 'typebox'
import { OneOf, Timestamp } from '../../../http/envelope.ts'
import { RANGE_METRICS } from './metric-names.ts'

export const RangeQuery = Type.Object({
  query: OneOf(RANGE_METRICS, { description: 'Name of a metric; expressions are not accepted' }),
  hours: Type.Optional(
    Type.Integer({ minimum: 1, default: 24, description: 'Values above 168 are treated as 168' }),
  ),
  step: Type.Optional(
    Type.String({
      examples: ['5m'],
      description:
        'Distance between two points: a number with s, m, h or d. Depends on hours if absent',
    }),
  ),
})

export const MetricsRange = Type.Object({
  series: Type.Array(
    Type.Object({
      metric: Type.String(),
      label: Type.String(),
      points: Type.Array(Type.Object({ t: Timestamp, v: Type.Number() })),
    }),
  ),
  start: Timestamp,
  end: Timestamp,
  step: Type.String({ examples: ['5m'] }),
})

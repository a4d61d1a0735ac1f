import { Type } from 'typebox'
import { Nullable, OneOf, Timestamp } from '../../../http/envelope.ts'
import { GRANULARITIES } from './buckets.ts'

const Count = Type.Integer({ minimum: 0 })
const Rate = Type.Number({ description: 'Percent' })

const days = (fallback: number, most: number) =>
  Type.Optional(
    Type.Integer({ minimum: 1, description: `${fallback} unless given; at most ${most} count` }),
  )
const granularity = Type.Optional(
  Type.String({ description: `${GRANULARITIES.join(', ')}; day unless given` }),
)
const organization_id = Type.Optional(Type.String({ description: 'Of one organization only' }))

export const OverviewQuery = Type.Object({ days: days(30, 366), granularity, organization_id })
export const GrowthQuery = Type.Object({ days: days(90, 730), granularity })
export const HeatmapQuery = Type.Object({ days: days(30, 366), organization_id })

const traffic = {
  sent: Type.Integer({ description: 'By hosted domains, whatever became of it' }),
  delivered: Count,
  bounced: Count,
  deferred: Count,
  received: Type.Integer({ description: 'Delivered to hosted domains' }),
}

export const AnalyticsOverview = Type.Object({
  range: Type.Object({ start: Timestamp, end: Timestamp, granularity: OneOf(GRANULARITIES) }),
  totals: Type.Object({ ...traffic, delivery_rate: Rate }),
  series: Type.Array(Type.Object({ bucket: Timestamp, ...traffic })),
  domains: Type.Array(
    Type.Object({
      domain: Type.String(),
      organization_id: Type.String(),
      sent: Count,
      delivered: Count,
      bounced: Count,
      delivery_rate: Rate,
      complaint_rate: Nullable(Rate),
    }),
  ),
})

const grown = { organizations: Count, domains: Count, mailboxes: Count }

export const Growth = Type.Object({
  series: Type.Array(
    Type.Object({
      bucket: Timestamp,
      ...grown,
      storage_bytes: Nullable(Type.Integer({ description: 'Known of the last bucket only' })),
    }),
  ),
  totals: Type.Object({ ...grown, storage_bytes: Count }),
})

export const Heatmap = Type.Object({
  cells: Type.Array(
    Type.Object({
      weekday: Type.Integer({ description: '0 is Monday' }),
      hour: Type.Integer(),
      count: Count,
    }),
  ),
  max: Count,
})

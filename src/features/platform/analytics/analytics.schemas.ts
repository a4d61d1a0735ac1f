import { Type } from 'typebox'
import { Nullable, OneOf, Timestamp } from '../../../http/envelope.ts'
import { GRANULARITIES } from './buckets.ts'

const Count = Type.Integer({ minimum: 0 })
const Rate = Type.Number({ description: 'Percent' })

const days = (fallback: number, max: number) =>
  Type.Optional(
    Type.Integer({
      minimum: 1,
      description: `Default ${fallback}; values above ${max} are treated as ${max}`,
    }),
  )
const granularity = Type.Optional(
  Type.String({ description: `${GRANULARITIES.join(', ')}; default day` }),
)
const organization_id = Type.Optional(Type.String({ description: 'Counts only this organization' }))

export const OverviewQuery = Type.Object({ days: days(30, 366), granularity, organization_id })
export const GrowthQuery = Type.Object({ days: days(90, 730), granularity })
export const HeatmapQuery = Type.Object({ days: days(30, 366), organization_id })

const traffic = {
  sent: Type.Integer({ description: 'Sent by hosted domains, with any outcome' }),
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
      storage_bytes: Nullable(Type.Integer({ description: 'Only the last bucket has a value' })),
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

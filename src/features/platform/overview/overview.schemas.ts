import { Type } from 'typebox'
import { Nullable, OneOf, Timestamp } from '../../../http/envelope.ts'

const Count = Type.Integer({ minimum: 0 })
const CountWithGrowth = Type.Object({ total: Count, delta_7d: Count })

/** A block that cannot be computed is null and listed in `degraded`. */
export const Overview = Type.Object(
  {
    services: Nullable(
      Type.Object({
        up: Count,
        total: Count,
        down: Count,
        unhealthy: Type.Array(Type.Object({ name: Type.String(), status: Type.String() })),
      }),
    ),
    queue: Nullable(
      Type.Object({ depth: Count, deferred: Count, oldest_age_seconds: Nullable(Type.Number()) }),
    ),
    organizations: Nullable(
      Type.Object({ total: Count, active: Count, suspended: Count, delta_7d: Count }),
    ),
    domains: Nullable(CountWithGrowth),
    mailboxes: Nullable(CountWithGrowth),
    storage: Nullable(
      Type.Object({
        used_bytes: Count,
        quota_bytes: Count,
        used_percent: Type.Number(),
        top_consumers: Type.Array(Type.Object({ domain: Type.String(), used_bytes: Count })),
      }),
    ),
    certificates: Nullable(
      Type.Object({
        total: Count,
        expiring_30d: Count,
        expiring_7d: Count,
        soonest_expiry_days: Nullable(Type.Number()),
      }),
    ),
    quarantine: Nullable(Type.Object({ pending: Count })),
    webhooks: Nullable(Type.Object({ dead_letters: Count })),
    migrations: Nullable(Type.Object({ failed: Count })),
    security: Nullable(
      Type.Object({
        failed_auth_24h: Count,
        denied_actions_24h: Count,
        failed_auth_series: Type.Array(Type.Object({ hour: Timestamp, count: Count })),
      }),
    ),
    volume_24h: Nullable(
      Type.Array(
        Type.Object({
          hour: Timestamp,
          sent: Count,
          received: Count,
          bounced: Count,
          deferred: Count,
        }),
      ),
    ),
    recent_actions: Nullable(
      Type.Array(
        Type.Object({
          id: Type.Integer(),
          operator_email: Nullable(Type.String()),
          action: Type.String(),
          target_type: Nullable(Type.String()),
          target_id: Nullable(Type.String()),
          result: OneOf(['success', 'failure']),
          created_at: Timestamp,
        }),
      ),
    ),
    degraded: Type.Array(Type.String(), { description: 'Names of the blocks that are null' }),
  },
  { title: 'PlatformOverview' },
)

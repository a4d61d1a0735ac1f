import { Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../http/envelope.ts'

const Count = Type.Integer({ minimum: 0 })
const timestamp = Timestamp
const Milliseconds = Type.Number({ description: 'Milliseconds' })

const MonitoredService = Type.Object(
  {
    status: OneOf(['up', 'degraded', 'down', 'error']),
    protocol: Type.String({ examples: ['smtp'] }),
    critical: Type.Boolean(),
    response_time: Nullable(Milliseconds),
    check_duration: Milliseconds,
    error: Nullable(Type.String()),
    since: Timestamp,
    timestamp,
  },
  { title: 'MonitoredService' },
)

export const MonitoringHealth = Type.Object({
  status: Type.Literal('healthy'),
  monitoring_service: Type.Object({
    status: Type.Literal('healthy'),
    services_monitored: Count,
    last_sweep_at: Timestamp,
    sweep_interval_seconds: Count,
  }),
  timestamp,
})

export const Heartbeat = Type.Object({
  overall_status: OneOf(['healthy', 'degraded', 'critical']),
  services: Type.Record(Type.String(), MonitoredService),
  critical_services_down: Type.Array(Type.String()),
  services_with_warnings: Type.Array(Type.String()),
  total_services: Count,
  healthy_services: Count,
  timestamp,
})

export const ServiceParams = Type.Object({ service_name: Type.String() })
export const OneService = Type.Object({ name: Type.String(), ...MonitoredService.properties })

const system = Type.Object({
  cpu_percent: Nullable(Type.Number()),
  memory_percent: Type.Number(),
  disk_percent: Type.Number(),
  load_average: Type.Array(Type.Number()),
})
const mail = {
  queue_size: Nullable(Count),
  deferred_count: Nullable(Count),
  active_connections: Nullable(Type.Integer({ description: 'Logged-in mail clients' })),
  messages_today: Nullable(Type.Integer({ description: 'Delivery attempts since midnight UTC' })),
}

export const SystemMetrics = Type.Object({ system, mail: Type.Object(mail), timestamp })

export const Statistics = Type.Object({
  system,
  mail: Type.Object({ ...mail, active_domains: Nullable(Count), total_users: Nullable(Count) }),
  services: Type.Object({ total: Count, healthy: Count, down: Count }),
  hosts: Type.Array(
    Type.Object({
      host: Type.String(),
      resource: OneOf(['cpu', 'memory', 'disk']),
      level: OneOf(['ok', 'warning', 'critical']),
      percent: Type.Number(),
      checked_at: Timestamp,
      changed_at: Timestamp,
    }),
  ),
  timestamp,
})

const reason = Type.Optional(
  Type.String({ maxLength: 1000, description: 'Kept in the audit trail' }),
)

export const RestartRequest = Body({
  force: Type.Optional(
    Type.Boolean({ default: false, description: 'Although it was restarted often lately' }),
  ),
  reason,
})

export const Restarted = Type.Object({
  service: Type.String(),
  action: Type.Literal('restart'),
  status: Type.Literal('success'),
  message: Type.String(),
  timestamp,
})

export const HealRequest = Body({
  services: Type.Optional(
    Type.Array(Type.String(), { maxItems: 100, description: 'Absent: those that carry mail' }),
  ),
  dry_run: Type.Optional(Type.Boolean({ default: false })),
  reason,
})

export const Healed = Type.Object({
  status: Type.Literal('completed'),
  dry_run: Type.Boolean(),
  actions_taken: Type.Array(
    Type.Object({
      service: Type.String(),
      action: OneOf(['none', 'restarted', 'would_restart', 'failed']),
      reason: Type.String(),
    }),
  ),
  timestamp,
})

export const WebhookTest = Body({
  webhook_urls: Type.Optional(
    Type.Array(Type.String(), { maxItems: 100, description: 'Some of the configured ones' }),
  ),
  payload_type: Type.Optional(OneOf(['ping', 'alert', 'recovery'], { default: 'ping' })),
  reason,
})

export const WebhooksTested = Type.Object({
  status: Type.Literal('completed'),
  payload_type: Type.String(),
  results: Type.Array(
    Type.Object({
      url: Type.String(),
      delivered: Type.Boolean(),
      status_code: Nullable(Type.Integer()),
      error: Nullable(Type.String()),
      response_time: Milliseconds,
    }),
  ),
  timestamp,
})

import { Type } from 'typebox'
import { defineEvent } from '../../events/events.ts'

const source = 'monitoring'
const text = (example: string) => Type.String({ examples: [example] })
const changed = {
  service: text('postfix'),
  old_status: text('up'),
  new_status: text('down'),
  critical: Type.Boolean(),
}

export const ServiceDown = defineEvent('health.service.down', {
  source,
  summary: 'A service stopped working',
  data: Type.Object({ ...changed, error: text('connection refused') }),
})

export const ServiceUp = defineEvent('health.service.up', {
  source,
  summary: 'A service works again',
  data: Type.Object({ ...changed, old_status: text('down'), new_status: text('up') }),
})

export const CheckFailed = defineEvent('health.check.failed', {
  source,
  summary: 'A service could not be examined',
  data: Type.Object({ service: text('rspamd'), error: text('Invalid URL') }),
})

export const SystemAlert = defineEvent('health.system.alert', {
  source,
  summary: 'CPU, memory or disk of a host has crossed a threshold, up or down',
  data: Type.Object({
    alert_type: text('disk_high'),
    severity: text('critical'),
    message: text('disk of mail1 is 91 percent full'),
    host: text('mail1'),
    value: Type.Number({ examples: [91.2] }),
  }),
})

export const Recovery = defineEvent('health.recovery', {
  source,
  summary: 'The monitoring, or an operator, tried to repair a service',
  data: Type.Object({
    service: text('postfix'),
    action: text('restart'),
    success: Type.Boolean(),
    automatic: Type.Boolean(),
    error: Type.Optional(Type.String()),
  }),
})

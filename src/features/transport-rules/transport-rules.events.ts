import { Type } from 'typebox'
import { defineEvent } from '../../events/events.ts'

const data = Type.Object({
  rule_id: Type.String(),
  name: Type.String({ examples: ['Disclaimer'] }),
  organization_id: Type.String(),
  direction: Type.String({ examples: ['both'] }),
  priority: Type.Integer(),
})

export const TransportRuleCreated = defineEvent('transport_rule.created', {
  source: 'api',
  summary: 'A transport rule was created',
  data,
})

export const TransportRuleUpdated = defineEvent('transport_rule.updated', {
  source: 'api',
  summary: 'A transport rule was changed, reordered, enabled or disabled',
  data,
})

export const TransportRuleDeleted = defineEvent('transport_rule.deleted', {
  source: 'api',
  summary: 'A transport rule was deleted',
  data,
})

export const TransportRuleTriggered = defineEvent('transport_rule.triggered', {
  source: 'api',
  summary: 'A transport rule matched a message',
  data: Type.Object({
    rule_id: Type.String(),
    name: Type.String({ examples: ['Disclaimer'] }),
    organization_id: Type.String(),
    message_id: Type.String({ description: 'Empty when the message has no Message-ID' }),
  }),
})

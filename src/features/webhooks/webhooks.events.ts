import { Type } from 'typebox'
import { defineEvent } from '../../events/events.ts'

export const WebhookTested = defineEvent('webhook.test', {
  source: 'api',
  summary: 'A webhook endpoint was registered, or a test event was requested',
  data: Type.Object({
    endpoint_id: Type.Optional(Type.String({ examples: ['01K9ZQ5T3M8B7C6D5E4F3G2H1J'] })),
    url: Type.Optional(Type.String({ examples: ['https://hooks.acme.example/mail'] })),
    action: Type.Optional(Type.Literal('created')),
    test: Type.Optional(Type.Literal(true)),
    timestamp: Type.Optional(Type.String({ format: 'date-time' })),
    payload: Type.Optional(
      Type.Unknown({ description: 'The body that was posted to /webhook/test', examples: [{}] }),
    ),
  }),
})

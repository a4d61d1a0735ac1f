import { Type } from 'typebox'

const FreeForm = (description: string, example: object) =>
  Type.Record(Type.String(), Type.Unknown(), { description, examples: [example] })

const EventType = Type.Object(
  {
    name: Type.String({ examples: ['domain.added'] }),
    source: Type.String({ examples: ['api'] }),
    summary: Type.String({ examples: ['A domain was added to an organization'] }),
    has_producer: Type.Boolean({
      description: 'This installation emits it; otherwise only another service can',
    }),
    reserved: Type.Boolean({
      description: 'The name is taken and nothing is expected to emit it',
      examples: [false],
    }),
    example: FreeForm('Example of `data` in the envelope', { domain: 'acme.example' }),
    data_schema: FreeForm('JSON Schema of `data`', {
      type: 'object',
      properties: { domain: { type: 'string' } },
    }),
  },
  { title: 'WebhookEventType' },
)

export const EventTypes = Type.Object({
  items: Type.Array(EventType),
  total: Type.Integer({ examples: [1] }),
})

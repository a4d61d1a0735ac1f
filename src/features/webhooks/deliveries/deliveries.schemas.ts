import { Type } from 'typebox'
import { Nullable, OneOf, Timestamp } from '../../../http/envelope.ts'
import { PageQuery } from '../../../http/paging.ts'
import { DELIVERY_STATUSES } from '../webhook-statuses.ts'

const exact = (description: string) => Type.Optional(Type.String({ description }))

export const DeliveryQuery = Type.Object({
  ...PageQuery,
  status: exact(`One of ${DELIVERY_STATUSES.join(', ')}; in any case`),
  event_id: exact('The `id` of an envelope'),
  event_type: exact('Exact'),
  endpoint_id: exact('Exact'),
  message_id: exact('Exact'),
  date_from: exact('ISO date or datetime, inclusive'),
  date_to: exact('ISO date or datetime, inclusive; a date means the end of that day'),
  organization_id: exact('Platform callers only'),
})

export const Delivery = Type.Object(
  {
    id: Type.String({ description: 'Of one attempt' }),
    event_id: Type.String({ description: 'The `id` of the envelope' }),
    event_type: Type.String({ examples: ['email.delivered'] }),
    endpoint_id: Nullable(Type.String({ description: 'null: the global URL' })),
    webhook_url: Type.String({
      description: 'The global URL is shown to platform callers only',
      examples: ['https://hooks.host.example/'],
    }),
    delivery_status: OneOf(DELIVERY_STATUSES),
    http_status_code: Type.Integer({
      description: '0: no answer in time, or no connection',
      examples: [200],
    }),
    attempts: Type.Integer({ description: 'Number of this attempt, from 1', examples: [1] }),
    error_message: Nullable(Type.String({ examples: ['Timeout'] })),
    created_at: Timestamp,
    delivered_at: Nullable(Timestamp),
  },
  { title: 'WebhookDelivery' },
)

export const DeliveryParams = Type.Object({ delivery_id: Type.String() })

export const DeliveryDetail = Type.Object(
  {
    ...Delivery.properties,
    payload: Nullable(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description:
            'The envelope that was sent, without its signature; null once the event is deleted, and for the global URL unless the caller is the platform',
          examples: [{ id: '01K9ZQ5T3M8B7C6D5E4F3G2H1J', event: 'email.delivered' }],
        },
      ),
    ),
  },
  { title: 'WebhookDeliveryDetail' },
)

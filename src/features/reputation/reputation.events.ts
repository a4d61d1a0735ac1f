import { Type } from 'typebox'
import { defineEvent } from '../../events/events.ts'

const source = 'delivery_optimizer'

export const ReputationChanged = defineEvent('optimizer.reputation.changed', {
  source,
  summary:
    'The rating of a domain changed, or a block list lists one of our addresses or no longer',
  data: Type.Object({
    domain: Type.String({ description: 'For an address: the host name of the installation' }),
    old_score: Type.Number(),
    new_score: Type.Number(),
    rating: Type.String({ description: 'excellent, good, fair or poor' }),
    bounce_rate: Type.Optional(Type.Number({ description: 'Share, of a domain' })),
    complaint_rate: Type.Optional(Type.Number({ description: 'Share, of a domain' })),
    ip: Type.Optional(Type.String({ description: 'Our address, where it is about one' })),
    listed_zones: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Block lists that have the address now',
        examples: [['bl.example']],
      }),
    ),
  }),
})

export const DomainThrottled = defineEvent('optimizer.domain.throttled', {
  source,
  summary: 'Mail to a domain is slowed down; emitted at most once an hour',
  data: Type.Object({
    domain: Type.String({ description: 'Of the recipients' }),
    reason: Type.String({ examples: ['hourly limit of 100 reached for isp.example'] }),
    organization_id: Type.String(),
  }),
})

export const IpWarmed = defineEvent('optimizer.ip.warmed', {
  source,
  summary: 'A sending address may send more from today',
  data: Type.Object({
    ip: Type.String(),
    stage: Type.String({ description: '`day` and its number, or `completed`' }),
    today_limit: Type.Integer(),
    target_volume: Type.Integer(),
  }),
})

export const FeedbackReceived = defineEvent('optimizer.fbl.received', {
  source,
  summary: 'A provider passed on a complaint',
  data: Type.Object({
    reporter: Type.String(),
    feedback_type: Type.String(),
    original_recipient: Type.String({
      description: 'Empty where the provider does not tell who complained',
    }),
    suppressed: Type.Boolean(),
  }),
})

import { Type } from 'typebox'
import { defineEvent } from '../../events/events.ts'
import { Nullable } from '../../http/envelope.ts'

export const DataExportRequested = defineEvent('compliance.data_export', {
  source: 'api',
  summary: 'An operator requested an export of the data of a person',
  data: Type.Object({
    export_id: Type.String(),
    user_email: Type.String(),
    export_type: Type.String(),
    requested_by: Type.String(),
  }),
})

export const DataErasureRequested = defineEvent('compliance.data_erasure', {
  source: 'api',
  summary: 'An operator requested the erasure of the data of a person',
  data: Type.Object({
    erasure_id: Type.String(),
    user_email: Type.String(),
    requested_by: Type.String(),
    hard_delete_scheduled_at: Type.String({ format: 'date-time' }),
  }),
})

export const ConsentChanged = defineEvent('compliance.consent_changed', {
  source: 'api',
  summary: 'A person gave or withdrew consent',
  data: Type.Object({
    user_email: Type.String(),
    consent_type: Type.String(),
    granted: Type.Boolean(),
    action: Type.String({ examples: ['granted'] }),
  }),
})

const Hold = {
  hold_id: Type.Integer({ examples: [7] }),
  organization_id: Type.String(),
  custodians: Type.Array(Type.String(), {
    description: 'E-mail addresses; none means every address of the organization',
    examples: [['ada@acme.example']],
  }),
  user_email: Nullable(Type.String({ description: 'Set when there is exactly one custodian' })),
  reason: Type.String({ examples: ['lawsuit'] }),
}

export const HoldPlaced = defineEvent('compliance.hold.placed', {
  source: 'api',
  summary: 'A legal hold was placed; the data it covers must be kept',
  data: Type.Object(Hold),
})

export const HoldReleased = defineEvent('compliance.hold.released', {
  source: 'api',
  summary: 'A legal hold was released',
  data: Type.Object(Hold),
})

import { Type } from 'typebox'
import { defineEvent } from '../../../events/events.ts'
import { Nullable } from '../../../http/envelope.ts'

export const DlpViolation = defineEvent('security.dlp.violation', {
  source: 'dlp',
  summary: 'A message violated a DLP policy',
  data: Type.Object({
    sender: Type.String(),
    recipient: Type.String(),
    violation_type: Type.String(),
    policy_name: Type.String(),
    action_taken: Type.String(),
    severity: Type.String({ examples: ['high'] }),
    message_id: Nullable(Type.String()),
  }),
})

import { Type } from 'typebox'
import { Body, Nullable } from '../../http/envelope.ts'

const text = Type.Optional(Nullable(Type.String()))
const needed = Type.String({ minLength: 1, maxLength: 255 })

export const InjectRequest = Body({
  html_content: Type.String(),
  email_id: needed,
  recipient: needed,
  tenant_id: needed,
  domain_id: needed,
  enable_open_tracking: Type.Optional(Type.Boolean()),
  enable_click_tracking: Type.Optional(Type.Boolean()),
})

const known = { organization_id: text, email_id: text, domain_id: text, tracking_id: text }

/** A parsed bounce, or the bounce message itself. */
export const BounceReport = Body(
  {
    recipient: Type.Optional(needed),
    bounce_type: Type.Optional(
      Type.String({ pattern: '^([Hh][Aa][Rr][Dd]|[Ss][Oo][Ff][Tt]|[Bb][Ll][Oo][Cc][Kk])$' }),
    ),
    bounce_reason: Type.Optional(Type.String()),
    eml_content: Type.Optional(Type.String({ minLength: 1 })),
    tracking_info: Type.Optional(Nullable(Body(known))),
  },
  {
    anyOf: [
      { required: ['recipient', 'bounce_type', 'bounce_reason'] },
      { required: ['eml_content'] },
    ],
  },
)

export const ComplaintReport = Body({
  recipient: needed,
  complaint_type: Type.Optional(Type.String()),
  ...known,
  additional_data: Type.Optional(Nullable(Type.Object({}, { additionalProperties: true }))),
})

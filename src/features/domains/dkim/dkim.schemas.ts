import { Type } from 'typebox'
import { Body, Nullable, Timestamp } from '../../../http/envelope.ts'

const record = {
  record_name: Type.String({ examples: ['svc20261115093000._domainkey.acme.example'] }),
  record_type: Type.Literal('TXT'),
  record_value: Type.String({ examples: ['v=DKIM1; k=rsa; p=MIIB…'] }),
}

export const DkimKey = Type.Object(
  {
    selector: Type.String(),
    algorithm: Type.String({ examples: ['rsa'] }),
    key_size: Type.Integer({ examples: [2048] }),
    active: Type.Boolean({ description: 'Outgoing mail is signed with this one' }),
    retired_at: Nullable(Timestamp),
    created_at: Timestamp,
    updated_at: Timestamp,
    ...record,
  },
  { title: 'DkimKey' },
)

export const DkimKeys = Type.Object({
  domain: Type.String(),
  domain_id: Type.String(),
  dkim_enabled: Type.Boolean(),
  signing_selector: Type.String(),
  items: Type.Array(DkimKey),
  total: Type.Integer(),
})

export const Reason = Body({
  reason: Type.String({ minLength: 1, description: 'Kept in the audit trail' }),
})

export const ActivateBody = Body({
  ...Reason.properties,
  force: Type.Optional(
    Type.Boolean({ default: false, description: 'Although the record is not visible yet' }),
  ),
})

export const KeyParams = Type.Object({ domain_id: Type.String(), selector: Type.String() })

export const DeletedKey = Type.Object({ domain_id: Type.String(), selector: Type.String() })

const outcome = {
  rspamd_synced: Type.Boolean({ description: 'The signer knows' }),
  warning: Type.String(),
}

export const Rotated = Type.Object({
  domain: Type.String(),
  selector: Type.String(),
  algorithm: Type.String({ examples: ['rsa'] }),
  key_size: Type.Integer({ examples: [2048] }),
  active: Type.Literal(false),
  previous_active_selectors: Type.Array(Type.String()),
  activate_url: Type.String(),
  ...record,
  ...outcome,
})

export const Activated = Type.Object({
  domain: Type.String(),
  active_selector: Type.String(),
  deactivated_selectors: Type.Array(Type.String()),
  record_name: record.record_name,
  record_value: record.record_value,
  ...outcome,
})

import { Type } from 'typebox'
import { defineEvent } from '../../events/events.ts'

const Named = {
  domain_id: Type.String(),
  domain: Type.String(),
  organization_id: Type.String(),
}

export const DomainAdded = defineEvent('domain.added', {
  source: 'api',
  summary: 'A domain was added to an organization',
  data: Type.Object(Named),
})

export const DomainUpdated = defineEvent('domain.updated', {
  source: 'api',
  summary: 'Fields, quotas or the policy of a domain were changed',
  data: Type.Object({
    ...Named,
    updated_fields: Type.Optional(Type.Array(Type.String())),
    update_type: Type.Optional(Type.String({ description: 'quotas or policy' })),
    max_quota: Type.Optional(Type.Integer()),
    max_users: Type.Optional(Type.Integer()),
  }),
})

export const DomainDeleted = defineEvent('domain.deleted', {
  source: 'api',
  summary: 'A domain was deleted',
  data: Type.Object({
    ...Named,
    mailboxes_deleted: Type.Optional(Type.Integer()),
    aliases_deleted: Type.Optional(Type.Integer()),
  }),
})

export const DomainVerified = defineEvent('domain.verified', {
  source: 'api',
  summary: 'All DNS records of a domain were found for the first time',
  data: Type.Object(Named),
})

export const EncryptionKeyGenerated = defineEvent('encryption.key.generated', {
  source: 'encryption',
  summary: 'A key was made',
  data: Type.Object({
    domain_id: Type.String(),
    domain: Type.String(),
    selector: Type.String(),
    kind: Type.Literal('dkim'),
  }),
})

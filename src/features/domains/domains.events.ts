import { Type } from 'typebox'
import { defineEvent } from '../../events/events.ts'
import { OneOf } from '../../http/envelope.ts'

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

export const OwnershipVerified = defineEvent('domain.ownership_verified', {
  source: 'api',
  summary: 'The ownership of a domain was proven; the mail servers host it from now on',
  data: Type.Object({
    ...Named,
    method: Type.String({
      description: 'dns, operator, or setting (SVC_DOMAIN_OWNERSHIP=off)',
      examples: ['dns'],
    }),
  }),
})

export const ClaimExpiring = defineEvent('domain.claim_expiring', {
  source: 'api',
  summary: 'A pending domain will be deleted unless its ownership is proven',
  data: Type.Object({ ...Named, expires_at: Type.String({ format: 'date-time' }) }),
})

export const ClaimEnded = defineEvent('domain.claim_ended', {
  source: 'api',
  summary: 'A pending domain was deleted: not proven in time, or proven by another organization',
  data: Type.Object({
    ...Named,
    reason: Type.String({ description: 'lapsed or proven_by_other', examples: ['lapsed'] }),
    mailboxes_deleted: Type.Integer(),
    aliases_deleted: Type.Integer(),
  }),
})

export const EncryptionKeyGenerated = defineEvent('encryption.key.generated', {
  source: 'encryption',
  summary: 'A key was made: of a domain for DKIM, or of a person for OpenPGP',
  data: Type.Object({
    domain: Type.String(),
    kind: OneOf(['dkim', 'pgp'], { examples: ['dkim'] }),
    domain_id: Type.Optional(Type.String()),
    selector: Type.Optional(Type.String()),
    user: Type.Optional(Type.String({ examples: ['ada@acme.example'] })),
    fingerprint: Type.Optional(Type.String({ examples: ['3AA5C34371567BD2'] })),
  }),
})

interface DomainNames {
  id: string
  organization_id: string
  domain: string
}

export const eventSubject = ({ organization_id, domain }: DomainNames) => ({
  org_id: organization_id,
  domain,
})

export const eventData = ({ id, domain, organization_id }: DomainNames) => ({
  domain_id: id,
  domain,
  organization_id,
})

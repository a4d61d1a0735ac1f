import { Type } from 'typebox'
import { defineEvent } from '../../events/events.ts'

const Named = {
  account_id: Type.String(),
  email: Type.String(),
  organization_id: Type.String(),
}

export const MailboxCreated = defineEvent('mailbox.created', {
  source: 'api',
  summary: 'A mailbox was created',
  data: Type.Object({ ...Named, domain_id: Type.String() }),
})

export const MailboxUpdated = defineEvent('mailbox.updated', {
  source: 'api',
  summary: 'Fields of a mailbox were changed; its password is never among them',
  data: Type.Object({ ...Named, updated_fields: Type.Array(Type.String()) }),
})

export const MailboxDeleted = defineEvent('mailbox.deleted', {
  source: 'api',
  summary: 'A mailbox was deleted',
  data: Type.Object({
    ...Named,
    aliases_deleted: Type.Optional(
      Type.Integer({ description: 'Aliases that led to this mailbox only; older route' }),
    ),
    messages_deleted: Type.Optional(Type.Integer()),
  }),
})

export const MailboxPasswordChanged = defineEvent('mailbox.password.changed', {
  source: 'api',
  summary: 'A mailbox has a new password',
  data: Type.Object({
    ...Named,
    changed_by: Type.String({ description: 'admin or mailbox_holder' }),
    sessions_revoked: Type.Integer(),
    temporary: Type.Optional(
      Type.Boolean({ description: 'Of an admin: the holder must choose another one' }),
    ),
  }),
})

export const MailboxTwoFactorReset = defineEvent('mailbox.two_factor.reset', {
  source: 'api',
  summary: "The holder's second factor was cleared by the tenant or an operator",
  data: Type.Object({ ...Named, sessions_revoked: Type.Integer() }),
})

const Status = Type.String({ description: 'active, inactive or suspended' })

export const MailboxSuspended = defineEvent('mailbox.suspended', {
  source: 'api',
  summary: 'A mailbox is no longer active: its holder cannot sign in',
  data: Type.Object({ ...Named, status: Status }),
})

export const MailboxActivated = defineEvent('mailbox.activated', {
  source: 'api',
  summary: 'A mailbox is active again',
  data: Type.Object({ ...Named, status: Status }),
})

export const MailboxQuotaChanged = defineEvent('mailbox.quota.changed', {
  source: 'api',
  summary: 'Quotas of a mailbox were set',
  data: Type.Object({
    ...Named,
    storage_quota: Type.Integer(),
    previous_storage_quota: Type.Integer(),
    quota_override: Type.Boolean(),
  }),
})

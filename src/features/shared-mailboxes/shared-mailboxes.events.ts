import { Type } from 'typebox'
import { defineEvent } from '../../events/events.ts'

const Named = {
  shared_mailbox_id: Type.String(),
  email: Type.String(),
  organization_id: Type.String(),
}

export const SharedMailboxCreated = defineEvent('shared_mailbox.created', {
  source: 'api',
  summary: 'A shared mailbox was created',
  data: Type.Object({ ...Named, name: Type.String() }),
})

export const SharedMailboxUpdated = defineEvent('shared_mailbox.updated', {
  source: 'api',
  summary: 'The name or the automatic reply of a shared mailbox was changed',
  data: Type.Object({ ...Named, updated_fields: Type.Array(Type.String()) }),
})

export const SharedMailboxDeleted = defineEvent('shared_mailbox.deleted', {
  source: 'api',
  summary: 'A shared mailbox was deleted, with all its members',
  data: Type.Object(Named),
})

const Membership = {
  shared_mailbox_id: Type.String(),
  member_id: Type.String(),
  member_account_id: Type.String(),
  member_email: Type.String(),
}

export const MemberAdded = defineEvent('shared_mailbox.member.added', {
  source: 'api',
  summary: 'A mailbox was given access to a shared one',
  data: Type.Object({ ...Membership, permission: Type.String() }),
})

export const PermissionChanged = defineEvent('shared_mailbox.permission.changed', {
  source: 'api',
  summary: 'The permission of a member of a shared mailbox was changed',
  data: Type.Object({
    ...Membership,
    permission: Type.String(),
    previous_permission: Type.String(),
  }),
})

export const MemberRemoved = defineEvent('shared_mailbox.member.removed', {
  source: 'api',
  summary: 'A member of a shared mailbox lost all access to it',
  data: Type.Object(Membership),
})

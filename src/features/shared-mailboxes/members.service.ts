import type { Static } from 'typebox'
import { actorOf } from '../../access/actor.ts'
import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import type { Tx } from '../../database/database.ts'
import { domainOf, toMailAddress } from '../../lib/mail-address.ts'
import { ulid } from '../../lib/ulid.ts'
import {
  AccountNotFound,
  MemberNotFound,
  SharedMailboxNotFound,
} from './shared-mailboxes.errors.ts'
import { MemberAdded, MemberRemoved, PermissionChanged } from './shared-mailboxes.events.ts'
import * as shared from './shared-mailboxes.repository.ts'
import type { Member, Permission } from './shared-mailboxes.schemas.ts'

/** The members of a shared mailbox and their permissions. */
export function memberService({ change, events, now }: Pick<Core, 'change' | 'events' | 'now'>) {
  /** Emits an event only when the permission changes. */
  async function setPermission(
    tx: Tx,
    caller: Caller,
    mailbox: shared.SharedMailboxRow,
    member: Static<typeof Member>,
    permission: Permission,
  ) {
    if (member.permission === permission) return member
    await shared.updateMember(
      tx,
      member.member_id,
      { permission, granted_by: actorOf(caller) },
      now(),
    )
    await events.emit(tx, PermissionChanged, aboutMailbox(mailbox), {
      ...namesOf(mailbox, member),
      permission,
      previous_permission: member.permission,
    })
    return { ...member, permission }
  }

  return {
    addMember: (caller: Caller, id: string, name: string, permission: Permission) =>
      change(caller, async (tx) => {
        const mailbox = await lockMailbox(tx, caller, id)
        const account = await shared.holdActiveAccount(tx, mailbox.organization_id, nameOf(name))
        if (!account) throw new AccountNotFound()
        const existing = await shared.findMember(tx, id, account)
        if (existing) return setPermission(tx, caller, mailbox, existing, permission)
        const member = {
          member_id: ulid(),
          email_account_id: account.id,
          email: account.email,
          permission,
        }
        await shared.insertMember(tx, {
          id: member.member_id,
          shared_mailbox_id: id,
          email_account_id: account.id,
          permission,
          granted_by: actorOf(caller),
        })
        await events.emit(tx, MemberAdded, aboutMailbox(mailbox), {
          ...namesOf(mailbox, member),
          permission,
        })
        return member
      }),

    changeMember: (caller: Caller, id: string, name: string, permission: Permission) =>
      change(caller, async (tx) => {
        const mailbox = await lockMailbox(tx, caller, id)
        const member = await shared.findMember(tx, id, nameOf(name))
        if (!member) throw new MemberNotFound()
        return setPermission(tx, caller, mailbox, member, permission)
      }),

    /** Also removes suspended members. */
    removeMember: (caller: Caller, id: string, name: string) =>
      change(caller, async (tx) => {
        const mailbox = await lockMailbox(tx, caller, id)
        const member = await shared.findMember(tx, id, nameOf(name))
        if (!member) throw new MemberNotFound()
        await shared.removeMember(tx, member.member_id)
        await events.emit(tx, MemberRemoved, aboutMailbox(mailbox), namesOf(mailbox, member))
      }),
  }
}

export async function lockMailbox(tx: Tx, caller: Caller, id: string) {
  const mailbox = await shared.lock(tx, caller.scope, id)
  if (!mailbox) throw new SharedMailboxNotFound()
  return mailbox
}

/** The organization and domain of an event. */
export const aboutMailbox = (mailbox: { organization_id: string; email: string }) => ({
  org_id: mailbox.organization_id,
  domain: domainOf(mailbox.email),
})

const nameOf = (sent: string) => ({ id: sent, email: toMailAddress(sent)?.address ?? '' })

const namesOf = (mailbox: { id: string }, member: Static<typeof Member>) => ({
  shared_mailbox_id: mailbox.id,
  member_id: member.member_id,
  member_account_id: member.email_account_id,
  member_email: member.email,
})

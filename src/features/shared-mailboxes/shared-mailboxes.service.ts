import type { Static } from 'typebox'
import { actorOf } from '../../access/actor.ts'
import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { holderOf } from '../../database/addresses.ts'
import { refusing } from '../../database/conflicts.ts'
import type { Tx } from '../../database/database.ts'
import { narrowed } from '../../database/scope.ts'
import { invalidField } from '../../errors.ts'
import type { Page } from '../../http/paging.ts'
import { domainOf, toMailAddress } from '../../lib/mail-address.ts'
import { ulid } from '../../lib/ulid.ts'
import type { AliasService } from '../aliases/aliases.service.ts'
import { DomainNotFound } from '../domains/domains.errors.ts'
import type { DomainService } from '../domains/domains.service.ts'
import { refuseKept } from '../mailboxes/kept-mailboxes.ts'
import {
  AccountNotFound,
  DomainInactive,
  DomainNotVerified,
  MemberNotFound,
  SharedAddressTaken,
  SharedMailboxNotFound,
} from './shared-mailboxes.errors.ts'
import {
  MemberAdded,
  MemberRemoved,
  PermissionChanged,
  SharedMailboxCreated,
  SharedMailboxDeleted,
} from './shared-mailboxes.events.ts'
import * as shared from './shared-mailboxes.repository.ts'
import type { Member, NewSharedMailbox, Permission } from './shared-mailboxes.schemas.ts'

interface Needs extends Pick<Core, 'authCache' | 'change' | 'db' | 'events' | 'now'> {
  domains: Pick<DomainService, 'holdByName'>
  aliases: Pick<AliasService, 'lockForwarding' | 'refuseLoop'>
}

export type SharedMailboxService = ReturnType<typeof sharedMailboxService>

export function sharedMailboxService(needs: Needs) {
  const { aliases, authCache, change, db, domains, events, now } = needs

  const about = (mailbox: { organization_id: string; email: string }) => ({
    org_id: mailbox.organization_id,
    domain: domainOf(mailbox.email),
  })

  async function locked(tx: Tx, caller: Caller, id: string) {
    const mailbox = await shared.lock(tx, caller.scope, id)
    if (!mailbox) throw new SharedMailboxNotFound()
    return mailbox
  }

  /** Of a member or of one to be: says what it now is, and tells when it was something else. */
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
    await events.emit(tx, PermissionChanged, about(mailbox), {
      ...namesOf(mailbox, member),
      permission,
      previous_permission: member.permission,
    })
    return { ...member, permission }
  }

  return {
    list(
      caller: Caller,
      query: { organization_id?: string; status?: 'active' | 'inactive'; q?: string },
      page: Page | undefined,
    ) {
      const scope = narrowed(caller.scope, query.organization_id)
      return shared.list(db, scope, { ...query, status: query.status ?? 'active' }, page)
    },

    async get(caller: Caller, id: string) {
      const mailbox = await shared.find(db, caller.scope, id)
      if (!mailbox) throw new SharedMailboxNotFound()
      return { mailbox, members: await shared.listMembers(db, id) }
    },

    /** Whatever organization was sent: the domain decides, and a tenant has only its own. */
    async create(caller: Caller, sent: Static<typeof NewSharedMailbox>) {
      const read = toMailAddress(sent.email)
      if (!read) throw invalidField('email', 'Invalid email format')
      if (sent.name.trim() === '') throw invalidField('name', 'Must not be empty')
      const { address: email, domain } = read
      return refusing(
        { addresses_pkey: () => taken(email), shared_mailboxes_email: () => taken(email) },
        () =>
          change(caller, async (tx) => {
            const hosted = await domains.holdByName(tx, caller.scope, domain)
            if (!hosted) throw new DomainNotFound()
            if (!hosted.active) throw new DomainInactive(domain)
            if (hosted.verified_at === null) throw new DomainNotVerified(domain)
            const mailbox = await shared.insert(tx, {
              id: ulid(),
              organization_id: hosted.organization_id,
              domain_id: hosted.id,
              email,
              name: sent.name,
              auto_reply_enabled: sent.auto_reply_enabled ?? false,
              auto_reply_message: sent.auto_reply_message ?? null,
            })
            await events.emit(tx, SharedMailboxCreated, about(mailbox), {
              shared_mailbox_id: mailbox.id,
              email,
              organization_id: mailbox.organization_id,
              name: mailbox.name,
            })
            return mailbox
          }),
      )
    },

    /** It stays as history, without members; its address is free at once. */
    async remove(caller: Caller, id: string) {
      const email = await change(caller, async (tx) => {
        await aliases.lockForwarding(tx)
        const mailbox = await locked(tx, caller, id)
        await refuseKept(tx, { ...mailbox, ids: [id], emails: [mailbox.email] }, now())
        await shared.removeMembers(tx, id)
        await shared.deactivate(tx, id, now())
        // Its mail is now the catch-all's, which may lead back here.
        await aliases.refuseLoop(tx, caller, mailbox.email)
        await events.emit(tx, SharedMailboxDeleted, about(mailbox), {
          shared_mailbox_id: id,
          email: mailbox.email,
          organization_id: mailbox.organization_id,
        })
        return mailbox.email
      })
      // Dovecot remembers where its mail is kept; the next one of that name has a place of its own.
      await authCache.flush([email])
    },

    addMember: (caller: Caller, id: string, name: string, permission: Permission) =>
      change(caller, async (tx) => {
        const mailbox = await locked(tx, caller, id)
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
        await events.emit(tx, MemberAdded, about(mailbox), {
          ...namesOf(mailbox, member),
          permission,
        })
        return member
      }),

    changeMember: (caller: Caller, id: string, name: string, permission: Permission) =>
      change(caller, async (tx) => {
        const mailbox = await locked(tx, caller, id)
        const member = await shared.findMember(tx, id, nameOf(name))
        if (!member) throw new MemberNotFound()
        return setPermission(tx, caller, mailbox, member, permission)
      }),

    /** Also of somebody who is suspended: access is taken away while it rests, too. */
    removeMember: (caller: Caller, id: string, name: string) =>
      change(caller, async (tx) => {
        const mailbox = await locked(tx, caller, id)
        const member = await shared.findMember(tx, id, nameOf(name))
        if (!member) throw new MemberNotFound()
        await shared.removeMember(tx, member.member_id)
        await events.emit(tx, MemberRemoved, about(mailbox), namesOf(mailbox, member))
      }),
  }

  async function taken(email: string) {
    const { id, words } = await holderOf(db, email)
    return new SharedAddressTaken({ email, by: words, ...(id !== undefined && { id }) })
  }
}

const nameOf = (sent: string) => ({ id: sent, email: toMailAddress(sent)?.address ?? '' })

const namesOf = (mailbox: { id: string }, member: Static<typeof Member>) => ({
  shared_mailbox_id: mailbox.id,
  member_id: member.member_id,
  member_account_id: member.email_account_id,
  member_email: member.email,
})

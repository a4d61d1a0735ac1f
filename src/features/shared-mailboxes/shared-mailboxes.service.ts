import type { Static } from 'typebox'
import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { refusing } from '../../database/conflicts.ts'
import { narrowed } from '../../database/scope.ts'
import { invalidField } from '../../errors.ts'
import { addressConflict } from '../../hosting/address-conflicts.ts'
import { refuseHeld } from '../../hosting/held-mailboxes.ts'
import type { Page } from '../../http/paging.ts'
import { toMailAddress } from '../../lib/mail-address.ts'
import { ulid } from '../../lib/ulid.ts'
import type { AliasService } from '../aliases/aliases.service.ts'
import { DomainNotFound } from '../domains/domains.errors.ts'
import type { DomainService } from '../domains/domains.service.ts'
import { aboutMailbox, lockMailbox, memberService } from './members.service.ts'
import {
  DomainInactive,
  DomainNotVerified,
  SharedMailboxNotFound,
} from './shared-mailboxes.errors.ts'
import {
  SharedMailboxCreated,
  SharedMailboxDeleted,
  SharedMailboxUpdated,
} from './shared-mailboxes.events.ts'
import * as shared from './shared-mailboxes.repository.ts'
import type { NewSharedMailbox } from './shared-mailboxes.schemas.ts'

interface Needs extends Pick<Core, 'authCache' | 'change' | 'db' | 'events' | 'now'> {
  domains: Pick<DomainService, 'holdByName'>
  aliases: Pick<AliasService, 'lockForwarding' | 'refuseLoop'>
}

export type SharedMailboxService = ReturnType<typeof sharedMailboxService>

export function sharedMailboxService(needs: Needs) {
  const { aliases, authCache, change, db, domains, events, now } = needs

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

    /** The organization is that of the domain; a sent organization is ignored. */
    async create(caller: Caller, sent: Static<typeof NewSharedMailbox>) {
      const read = toMailAddress(sent.email)
      if (!read) throw invalidField('email', 'Invalid email format')
      if (sent.name.trim() === '') throw invalidField('name', 'Must not be empty')
      refuseSilentReply(sent)
      const { address: email, domain } = read
      return refusing(
        {
          addresses_pkey: () => addressConflict(db, caller.scope, email),
          shared_mailboxes_email: () => addressConflict(db, caller.scope, email),
        },
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
            await events.emit(tx, SharedMailboxCreated, aboutMailbox(mailbox), {
              shared_mailbox_id: mailbox.id,
              email,
              organization_id: mailbox.organization_id,
              name: mailbox.name,
            })
            return mailbox
          }),
      )
    },

    update: (caller: Caller, id: string, sent: shared.SharedMailboxFields) =>
      change(caller, async (tx) => {
        const before = await lockMailbox(tx, caller, id)
        if (sent.name?.trim() === '') throw invalidField('name', 'Must not be empty')
        const { name, auto_reply_enabled, auto_reply_message } = { ...before, ...sent }
        const fields = { name, auto_reply_enabled, auto_reply_message }
        refuseSilentReply(fields)
        const updated_fields = Object.keys(fields).filter(
          (field) => fields[field as keyof typeof fields] !== before[field as keyof typeof fields],
        )
        if (updated_fields.length === 0) return before
        const mailbox = await shared.update(tx, id, fields, now())
        await events.emit(tx, SharedMailboxUpdated, aboutMailbox(mailbox), {
          shared_mailbox_id: id,
          email: mailbox.email,
          organization_id: mailbox.organization_id,
          updated_fields,
        })
        return mailbox
      }),

    /** Keeps the row as history, without members; the address is free at once. */
    async remove(caller: Caller, id: string) {
      const email = await change(caller, async (tx) => {
        await aliases.lockForwarding(tx)
        const mailbox = await lockMailbox(tx, caller, id)
        await refuseHeld(tx, { ...mailbox, ids: [id], emails: [mailbox.email] }, now())
        await shared.removeMembers(tx, id)
        await shared.deactivate(tx, id, now())
        // Mail for the address now goes to the catch-all, which may lead back here.
        await aliases.refuseLoop(tx, caller, mailbox.email)
        await events.emit(tx, SharedMailboxDeleted, aboutMailbox(mailbox), {
          shared_mailbox_id: id,
          email: mailbox.email,
          organization_id: mailbox.organization_id,
        })
        return mailbox.email
      })
      // Dovecot caches the mail location; the next mailbox with this address has another one.
      await authCache.flush([email])
    },

    ...memberService(needs),
  }
}

function refuseSilentReply({
  auto_reply_enabled,
  auto_reply_message,
}: Pick<shared.SharedMailboxFields, 'auto_reply_enabled' | 'auto_reply_message'>): void {
  if (auto_reply_enabled && !auto_reply_message?.trim()) {
    throw invalidField('auto_reply_message', 'Required when auto_reply_enabled is true')
  }
}

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../access/labels.ts'
import { ADDRESS_CONFLICTS } from '../../hosting/address-conflicts.ts'
import { MailboxOnHold } from '../../hosting/held-mailboxes.ts'
import { Done, done, Success, success } from '../../http/envelope.ts'
import { pageOf, TOTAL_COUNT } from '../../http/paging.ts'
import { ForwardingLoop } from '../aliases/aliases.errors.ts'
import { DomainNotFound } from '../domains/domains.errors.ts'
import * as errors from './shared-mailboxes.errors.ts'
import * as shapes from './shared-mailboxes.schemas.ts'
import type { SharedMailboxService } from './shared-mailboxes.service.ts'

export const sharedMailboxRoutes =
  (mailboxes: SharedMailboxService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('', {
      config: { auth: key('read'), totalCount: true },
      schema: {
        operationId: 'list_shared_mailboxes',
        summary: 'List shared mailboxes',
        querystring: shapes.SharedMailboxQuery,
        response: { 200: Success(shapes.SharedMailboxList) },
      },
      handler: async ({ caller, query }, reply) => {
        const paged = query.page !== undefined || query.per_page !== undefined
        const { items, total } = await mailboxes.list(
          caller,
          query,
          paged ? pageOf(query) : undefined,
        )
        return reply
          .header(TOTAL_COUNT, total)
          .send(success('Shared mailboxes retrieved successfully', items))
      },
    })

    app.post('', {
      config: {
        auth: key('write'),
        errors: [
          errors.DomainNotVerified,
          errors.DomainInactive,
          DomainNotFound,
          ...ADDRESS_CONFLICTS,
        ],
      },
      schema: {
        operationId: 'create_shared_mailbox',
        summary: 'Create a shared mailbox at a verified domain',
        body: shapes.NewSharedMailbox,
        response: { 201: Success(shapes.SharedMailbox) },
      },
      handler: async ({ caller, body }, reply) => {
        const created = await mailboxes.create(caller, body)
        return reply.code(201).send(success('Shared mailbox created successfully', created))
      },
    })

    app.get('/:mailbox_id', {
      config: { auth: key('read'), errors: [errors.SharedMailboxNotFound] },
      schema: {
        operationId: 'get_shared_mailbox',
        summary: 'Get a shared mailbox with its members',
        params: shapes.MailboxParams,
        response: { 200: Success(shapes.SharedMailboxDetail) },
      },
      handler: async ({ caller, params }) =>
        success(
          'Shared mailbox retrieved successfully',
          await mailboxes.get(caller, params.mailbox_id),
        ),
    })

    app.put('/:mailbox_id', {
      config: { auth: key('write'), errors: [errors.SharedMailboxNotFound] },
      schema: {
        operationId: 'update_shared_mailbox',
        summary: 'Change the name or the automatic reply of a shared mailbox',
        params: shapes.MailboxParams,
        body: shapes.SharedMailboxChange,
        response: { 200: Success(shapes.SharedMailbox) },
      },
      handler: async ({ caller, params, body }) =>
        success(
          'Shared mailbox updated successfully',
          await mailboxes.update(caller, params.mailbox_id, body),
        ),
    })

    app.delete('/:mailbox_id', {
      config: {
        auth: key('write'),
        errors: [errors.SharedMailboxNotFound, ForwardingLoop, MailboxOnHold],
      },
      schema: {
        operationId: 'delete_shared_mailbox',
        summary: 'Delete a shared mailbox: its members go, its address is free at once',
        params: shapes.MailboxParams,
        response: { 200: Done },
      },
      handler: async ({ caller, params }) => {
        await mailboxes.remove(caller, params.mailbox_id)
        return done('Shared mailbox deleted successfully')
      },
    })

    app.post('/:mailbox_id/members', {
      config: {
        auth: key('write'),
        errors: [errors.SharedMailboxNotFound, errors.AccountNotFound],
      },
      schema: {
        operationId: 'add_shared_mailbox_member',
        summary: 'Give a mailbox access, or change what it may do',
        params: shapes.MailboxParams,
        body: shapes.NewMember,
        response: { 200: Success(shapes.Member) },
      },
      handler: async ({ caller, params, body }) => {
        const { email_account_id, permission = 'full_access' } = body
        const member = await mailboxes.addMember(
          caller,
          params.mailbox_id,
          email_account_id,
          permission,
        )
        return success('Member added successfully', member)
      },
    })

    app.put('/:mailbox_id/members/:member_account_id', {
      config: {
        auth: key('write'),
        errors: [errors.SharedMailboxNotFound, errors.MemberNotFound],
      },
      schema: {
        operationId: 'update_shared_mailbox_member',
        summary: 'Change what a member may do',
        params: shapes.MemberParams,
        body: shapes.MemberChange,
        response: { 200: Success(shapes.Member) },
      },
      handler: async ({ caller, params, body: { permission = 'full_access' } }) => {
        const { mailbox_id, member_account_id } = params
        const member = await mailboxes.changeMember(
          caller,
          mailbox_id,
          member_account_id,
          permission,
        )
        return success('Member updated successfully', member)
      },
    })

    app.delete('/:mailbox_id/members/:member_account_id', {
      config: {
        auth: key('write'),
        errors: [errors.SharedMailboxNotFound, errors.MemberNotFound],
      },
      schema: {
        operationId: 'remove_shared_mailbox_member',
        summary: 'Remove a member from a shared mailbox; its own mailbox is unchanged',
        params: shapes.MemberParams,
        response: { 200: Done },
      },
      handler: async ({ caller, params }) => {
        await mailboxes.removeMember(caller, params.mailbox_id, params.member_account_id)
        return done('Member removed successfully')
      },
    })
  }

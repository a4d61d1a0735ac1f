import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { key } from '../../access/labels.ts'
import { ADDRESS_CONFLICTS } from '../../hosting/address-conflicts.ts'
import { MailboxBeingErased, MailboxOnHold } from '../../hosting/held-mailboxes.ts'
import { Done, done, Success, success } from '../../http/envelope.ts'
import { Paginated, pageOf } from '../../http/paging.ts'
import { sortOf } from '../../http/sorting.ts'
import { ForwardingLoop } from '../aliases/aliases.errors.ts'
import {
  AllotmentExceeded,
  NoQuotaData,
  QuotaOverridden,
} from '../organizations/organizations.errors.ts'
import { QuotaForce } from '../organizations/organizations.schemas.ts'
import * as errors from './mailboxes.errors.ts'
import * as shapes from './mailboxes.schemas.ts'
import type { MailboxService } from './mailboxes.service.ts'

export const mailboxRoutes =
  (mailboxes: MailboxService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/email-accounts', {
      config: { auth: key('read') },
      schema: {
        operationId: 'list_email_accounts',
        summary: 'List mailboxes',
        querystring: shapes.AccountQuery,
        response: { 200: Success(Paginated(shapes.EmailAccountListItem)) },
      },
      handler: async ({ caller, query }) =>
        success(
          'Email accounts retrieved successfully',
          await mailboxes.list(
            caller,
            query.organization_id,
            query,
            sortOf(query, 'email'),
            pageOf(query),
          ),
        ),
    })

    app.post('/email-accounts', {
      config: {
        auth: key('write'),
        validation: 'handler',
        errors: [
          errors.DomainUnavailable,
          errors.EmailAccountExists,
          ...ADDRESS_CONFLICTS,
          errors.AccountExternalIdTaken,
          errors.UserLimitReached,
          AllotmentExceeded,
        ],
      },
      schema: {
        operationId: 'create_email_account',
        summary: 'Create a mailbox',
        body: shapes.NewAccount,
        response: { 201: Success(shapes.EmailAccount) },
      },
      handler: async ({ caller, body }, reply) => {
        const created = await mailboxes.create(caller, body)
        return reply.code(201).send(success('Email account created successfully', created))
      },
    })

    app.get('/email-accounts/:account_id', {
      config: { auth: key('read'), errors: [errors.EmailAccountNotFound] },
      schema: {
        operationId: 'get_email_account',
        summary: 'Get a mailbox with its domain and organization',
        params: shapes.AccountParams,
        response: { 200: Success(shapes.EmailAccountDetail) },
      },
      handler: async ({ caller, params }) =>
        success(
          'Email account retrieved successfully',
          await mailboxes.get(caller, params.account_id),
        ),
    })

    app.put('/email-accounts/:account_id', {
      config: {
        auth: key('write'),
        validation: 'handler',
        errors: [
          errors.EmailAccountNotFound,
          errors.AccountExternalIdTaken,
          AllotmentExceeded,
          QuotaOverridden,
        ],
      },
      schema: {
        operationId: 'update_email_account',
        summary: "Change a mailbox; a new password or status ends its holder's sessions",
        params: shapes.AccountParams,
        body: shapes.AccountChange,
        response: { 200: Success(shapes.EmailAccount) },
      },
      handler: async ({ caller, params, body }) =>
        success(
          'Email account updated successfully',
          await mailboxes.update(caller, params.account_id, body),
        ),
    })

    app.delete('/email-accounts/:account_id', {
      config: {
        auth: key('write'),
        errors: [ForwardingLoop, MailboxBeingErased, MailboxOnHold],
      },
      schema: {
        operationId: 'delete_email_account',
        summary: 'Delete a mailbox; 204 when there is none to delete',
        params: shapes.AccountParams,
        response: { 200: Done, 204: Type.Null({ description: 'There was none' }) },
      },
      handler: async ({ caller, params }, reply) => {
        const removed = await mailboxes.remove(caller, params.account_id)
        if (!removed) return reply.code(204).send(null)
        return done('Email account deleted successfully')
      },
    })

    app.get('/email-accounts/:account_id/quotas', {
      config: { auth: key('read'), errors: [errors.EmailAccountNotFound] },
      schema: {
        operationId: 'get_email_account_quotas',
        summary: 'Get the quotas and the usage of a mailbox',
        params: shapes.AccountParams,
        response: { 200: Success(shapes.AccountQuotas) },
      },
      handler: async ({ caller, params }) =>
        success(
          'Account quota information retrieved successfully',
          await mailboxes.quotas(caller, params.account_id),
        ),
    })

    app.put('/email-accounts/:account_id/quotas', {
      config: {
        auth: key('write'),
        validation: 'handler',
        noData: NoQuotaData,
        errors: [errors.EmailAccountNotFound, NoQuotaData, AllotmentExceeded, QuotaOverridden],
      },
      schema: {
        operationId: 'update_email_account_quotas',
        summary: 'Set the quotas of a mailbox; those of an operator become an override',
        params: shapes.AccountParams,
        querystring: QuotaForce,
        body: shapes.QuotaChange,
        response: { 200: Success(shapes.ChangedQuotas) },
      },
      handler: async ({ caller, params, query, body }) =>
        success(
          'Account quotas updated successfully',
          await mailboxes.setQuotas(caller, params.account_id, body, query.force ?? false),
        ),
    })

    app.post('/email-accounts/:account_id/reset-password', {
      config: {
        auth: key('write'),
        validation: 'handler',
        errors: [errors.EmailAccountNotFound, errors.WeakPassword, errors.InvalidReset],
      },
      schema: {
        operationId: 'reset_email_account_password',
        summary: "Give a mailbox a new password and end its holder's sessions",
        params: shapes.AccountParams,
        body: shapes.PasswordReset,
        response: { 200: Success(shapes.PasswordWasReset) },
      },
      handler: async ({ caller, params, body }) =>
        success('Password reset', await mailboxes.resetPassword(caller, params.account_id, body)),
    })
  }

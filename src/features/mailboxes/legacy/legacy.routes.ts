import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../../access/labels.ts'
import { ADDRESS_CONFLICTS } from '../../../hosting/address-conflicts.ts'
import { Done, done, Success, success } from '../../../http/envelope.ts'
import { AllotmentExceeded, QuotaOverridden } from '../../organizations/organizations.errors.ts'
import { DomainUnavailable, MailboxExists, UserLimitReached } from '../mailboxes.errors.ts'
import { InvalidMailbox, MailboxNotFound } from './legacy.errors.ts'
import * as shapes from './legacy.schemas.ts'
import type { LegacyMailboxService } from './legacy.service.ts'

export const legacyMailboxRoutes =
  (legacy: LegacyMailboxService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post('/add', {
      config: {
        auth: key('write'),
        validation: 'handler',
        errors: [
          InvalidMailbox,
          DomainUnavailable,
          MailboxExists,
          ...ADDRESS_CONFLICTS,
          UserLimitReached,
          AllotmentExceeded,
        ],
      },
      schema: {
        operationId: 'add_mailbox',
        summary: 'Create a mailbox (older route)',
        body: shapes.AddBody,
        response: { 200: Success(shapes.Added) },
      },
      handler: async ({ caller, body }) => {
        const added = await legacy.add(caller, body)
        return success(`Mailbox ${added.email} created successfully`, added)
      },
    })

    app.get('/get/:mailbox_id', {
      config: { auth: key('read'), errors: [MailboxNotFound] },
      schema: {
        operationId: 'get_mailboxes',
        summary: 'Get a mailbox, or all active ones (older route)',
        params: shapes.MailboxIdParams,
        querystring: shapes.OrganizationQuery,
        response: { 200: Success(shapes.Mailboxes) },
      },
      handler: async ({ caller, params, query }) =>
        success(
          'Mailboxes retrieved successfully',
          await legacy.get(caller, params.mailbox_id, query.organization_id),
        ),
    })

    app.post('/edit', {
      config: { auth: key('write'), validation: 'handler', errors: [InvalidMailbox] },
      schema: {
        operationId: 'edit_mailboxes',
        summary: 'Change several mailboxes by address (older route)',
        body: shapes.EditBody,
        response: { 200: Success(shapes.Edited) },
      },
      handler: async ({ caller, body }) =>
        success('Mailbox update completed', await legacy.edit(caller, body)),
    })

    app.post('/delete', {
      config: { auth: key('write'), validation: 'handler', errors: [InvalidMailbox] },
      schema: {
        operationId: 'delete_mailboxes',
        summary:
          'Delete mailboxes by address, also from the aliases that lead to them (older route)',
        body: shapes.DeleteBody,
        response: { 200: Success(shapes.Deleted) },
      },
      handler: async ({ caller, body }) =>
        success('Mailbox deletion completed', await legacy.remove(caller, body)),
    })

    app.get('/get/quota/:mailbox', {
      config: { auth: key('read'), errors: [MailboxNotFound] },
      schema: {
        operationId: 'get_mailbox_quota',
        summary: 'Get the quota and the usage of a mailbox (older route)',
        params: shapes.MailboxParams,
        response: { 200: Success(shapes.Quota) },
      },
      handler: async ({ caller, params }) =>
        success(
          'Quota information retrieved successfully',
          await legacy.quota(caller, params.mailbox),
        ),
    })

    app.post('/edit/quota', {
      config: {
        auth: key('write'),
        validation: 'handler',
        errors: [MailboxNotFound, InvalidMailbox, AllotmentExceeded, QuotaOverridden],
      },
      schema: {
        operationId: 'edit_mailbox_quota',
        summary: 'Set the storage quota of a mailbox (older route)',
        body: shapes.QuotaBody,
        response: { 200: Done },
      },
      handler: async ({ caller, body }) =>
        done(`Quota updated for ${await legacy.setQuota(caller, body)}`),
    })

    app.get('/get/stats/:mailbox', {
      config: { auth: key('read'), errors: [MailboxNotFound] },
      schema: {
        operationId: 'get_mailbox_stats',
        summary: 'Messages and sign-ins of a mailbox (older route)',
        params: shapes.MailboxParams,
        response: { 200: Success(shapes.Stats) },
      },
      handler: async ({ caller, params }) =>
        success(
          'Mailbox statistics retrieved successfully',
          await legacy.stats(caller, params.mailbox),
        ),
    })
  }

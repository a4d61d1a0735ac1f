import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key, operator } from '../../access/labels.ts'
import { Success, success } from '../../http/envelope.ts'
import { DomainNotFound } from '../domains/domains.errors.ts'
import { AllotmentExceeded, QuotaBelowUse } from '../organizations/organizations.errors.ts'
import { QuotaForce } from '../organizations/organizations.schemas.ts'
import type { CleanupService } from './cleanup/cleanup.service.ts'
import type { HistoryService } from './history/history.service.ts'
import {
  InvalidCleanup,
  MailboxNotFound,
  NoQuotaSent,
  StorageOwnerNotFound,
  UsageNotFound,
} from './storage.errors.ts'
import * as shapes from './storage.schemas.ts'
import type { StorageService } from './storage.service.ts'

const downstream = 'Storage service unavailable'

export const storageRoutes =
  (
    storage: StorageService,
    cleanup: CleanupService,
    history: HistoryService,
  ): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/usage/summary', {
      config: { auth: operator('support') },
      schema: {
        operationId: 'get_storage_summary',
        summary: 'Storage used by all domains, with the largest ones',
        response: { 200: Success(shapes.StorageSummary) },
      },
      handler: async () => success('Storage summary retrieved', await storage.summary()),
    })

    app.get('/usage/domain/:domain', {
      config: { auth: key('read'), downstream, errors: [DomainNotFound, UsageNotFound] },
      schema: {
        operationId: 'get_domain_usage',
        summary: 'Storage used by a domain',
        params: shapes.DomainParams,
        querystring: shapes.UsageQuery,
        response: { 200: Success(shapes.DomainUsage) },
      },
      handler: async ({ caller, params, query }) =>
        success(
          'Domain usage retrieved',
          await storage.usageOfDomain(caller, params.domain, query.force_calculate ?? false),
        ),
    })

    app.get('/usage/mailbox/:email', {
      config: { auth: key('read'), downstream, errors: [MailboxNotFound, UsageNotFound] },
      schema: {
        operationId: 'get_mailbox_usage',
        summary: 'Storage used by a mailbox',
        params: shapes.MailboxParams,
        querystring: shapes.UsageQuery,
        response: { 200: Success(shapes.MailboxUsage) },
      },
      handler: async ({ caller, params, query }) =>
        success(
          'Mailbox usage retrieved',
          await storage.usageOfMailbox(caller, params.email, query.force_calculate ?? false),
        ),
    })

    app.get('/history/:entity_type/:identifier', {
      config: { auth: key('read'), errors: [StorageOwnerNotFound] },
      schema: {
        operationId: 'get_storage_history',
        summary: 'Mail, attachments and calendars now and by day, and when the quota fills up',
        params: shapes.HistoryParams,
        querystring: shapes.HistoryQuery,
        response: { 200: Success(shapes.StorageHistory) },
      },
      handler: async ({ caller, params, query }) =>
        success(
          'Storage history retrieved',
          await history.history(caller, params.entity_type, params.identifier, query.days ?? 30),
        ),
    })

    app.get('/quotas/domain/:domain', {
      config: { auth: key('read'), errors: [DomainNotFound] },
      schema: {
        operationId: 'get_domain_storage_quotas',
        summary: 'The quotas that hold for a domain, inherited ones included',
        params: shapes.DomainParams,
        response: { 200: Success(shapes.Quotas) },
      },
      handler: async ({ caller, params }) =>
        success('Domain quotas retrieved', await storage.quotasOfDomain(caller, params.domain)),
    })

    app.get('/quotas/mailbox/:email', {
      config: { auth: key('read'), errors: [MailboxNotFound] },
      schema: {
        operationId: 'get_mailbox_storage_quotas',
        summary: 'The quotas that hold for a mailbox, inherited ones included',
        params: shapes.MailboxParams,
        response: { 200: Success(shapes.Quotas) },
      },
      handler: async ({ caller, params }) =>
        success('Mailbox quotas retrieved', await storage.quotasOfMailbox(caller, params.email)),
    })

    app.post('/quotas/domain/:domain', {
      config: {
        auth: operator('admin'),
        errors: [DomainNotFound, NoQuotaSent, QuotaBelowUse, AllotmentExceeded],
      },
      schema: {
        operationId: 'set_domain_storage_quotas',
        summary: 'Set quotas of a domain as an override; what is not sent stays as it is',
        params: shapes.DomainParams,
        querystring: QuotaForce,
        body: shapes.DomainQuotaChange,
        response: { 200: Success(shapes.ChangedQuotas) },
      },
      handler: async ({ caller, params, query, body }) =>
        success(
          'Domain quotas updated',
          await storage.setQuotasOfDomain(caller, params.domain, body, query.force ?? false),
        ),
    })

    app.post('/quotas/mailbox/:email', {
      config: {
        auth: operator('admin'),
        errors: [MailboxNotFound, NoQuotaSent, AllotmentExceeded],
      },
      schema: {
        operationId: 'set_mailbox_storage_quotas',
        summary: 'Set quotas of a mailbox as an override; what is not sent stays as it is',
        params: shapes.MailboxParams,
        querystring: QuotaForce,
        body: shapes.MailboxQuotaChange,
        response: { 200: Success(shapes.ChangedQuotas) },
      },
      handler: async ({ caller, params, query, body }) =>
        success(
          'Mailbox quotas updated',
          await storage.setQuotasOfMailbox(caller, params.email, body, query.force ?? false),
        ),
    })

    app.post('/cleanup', {
      config: { auth: operator('operator'), downstream, errors: [DomainNotFound, InvalidCleanup] },
      schema: {
        operationId: 'clean_up_storage',
        summary: 'Delete old usage records and, on request, old mail from Trash or Junk',
        body: shapes.CleanupRequest,
        response: { 200: Success(shapes.Cleanup) },
      },
      handler: async ({ caller, body }) =>
        success('Storage cleaned up', await cleanup.cleanUp(caller, body)),
    })
  }

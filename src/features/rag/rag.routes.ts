import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../access/labels.ts'
import { Success, success } from '../../http/envelope.ts'
import { DomainNotFound } from '../domains/domains.errors.ts'
import type { CollectionService } from './collections/collections.service.ts'
import type { DocumentService } from './documents/documents.service.ts'
import type { HealthService } from './health.service.ts'
import type { IndexingService } from './indexing/indexing.service.ts'
import * as errors from './rag.errors.ts'
import * as shapes from './rag.schemas.ts'
import type { SearchService } from './search/search.service.ts'

const downstream = errors.UNAVAILABLE

export interface Services {
  search: SearchService
  indexing: IndexingService
  collections: CollectionService
  documents: DocumentService
  health: HealthService
}

export const ragRoutes =
  ({ search, indexing, collections, documents, health }: Services): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post('/search', {
      config: {
        auth: key('read'),
        downstream,
        errors: [DomainNotFound, errors.CollectionNotFound, errors.SearchDisabled],
      },
      schema: {
        operationId: 'rag_search',
        summary: 'Search mail and documents by words and by likeness',
        body: shapes.Search,
        response: { 200: Success(shapes.SearchAnswer) },
      },
      handler: async ({ caller, body }) =>
        success('Search completed', await search.search(caller, body)),
    })

    app.get('/rag/index/status/:domain', {
      config: { auth: key('read'), errors: [DomainNotFound] },
      schema: {
        operationId: 'get_rag_index_status',
        summary: 'Progress of indexing the mail of a domain',
        params: shapes.DomainParams,
        response: { 200: Success(shapes.IndexStatus) },
      },
      handler: async ({ caller, params }) =>
        success('Index status retrieved', await indexing.status(caller, params.domain)),
    })

    app.post('/rag/index/trigger', {
      config: { auth: key('write'), errors: [DomainNotFound, errors.SearchDisabled] },
      schema: {
        operationId: 'trigger_rag_index',
        summary: 'Index what is new in a domain, or all of it again',
        body: shapes.Trigger,
        response: { 202: Success(shapes.Accepted) },
      },
      handler: async ({ caller, body }, reply) =>
        reply
          .code(202)
          .send(
            success(
              'Indexing accepted',
              await indexing.trigger(caller, body.domain, body.full_reindex ?? false),
            ),
          ),
    })

    app.get('/collections/:domain', {
      config: { auth: key('read'), errors: [DomainNotFound] },
      schema: {
        operationId: 'list_rag_collections',
        summary: 'Collections of a domain',
        params: shapes.DomainParams,
        response: { 200: Success(shapes.Collections) },
      },
      handler: async ({ caller, params }) =>
        success('Collections retrieved', await collections.ofDomain(caller, params.domain)),
    })

    app.post('/collections/:domain', {
      config: {
        auth: key('write'),
        errors: [DomainNotFound, errors.InvalidConfiguration, errors.CollectionExists],
      },
      schema: {
        operationId: 'create_rag_collection',
        summary: 'Make a collection for documents',
        params: shapes.DomainParams,
        body: shapes.NewCollection,
        response: { 201: Success(shapes.Collection) },
      },
      handler: async ({ caller, params, body }, reply) =>
        reply
          .code(201)
          .send(
            success('Collection created', await collections.create(caller, params.domain, body)),
          ),
    })

    app.get('/collections/:domain/stats', {
      config: { auth: key('read'), errors: [DomainNotFound] },
      schema: {
        operationId: 'get_rag_collection_stats',
        summary: 'Contents of the index for a domain',
        params: shapes.DomainParams,
        response: { 200: Success(shapes.CollectionStats) },
      },
      handler: async ({ caller, params }) =>
        success('Collection statistics retrieved', await collections.stats(caller, params.domain)),
    })

    app.post('/documents/:collection_id', {
      config: {
        auth: key('write'),
        downstream,
        errors: [errors.CollectionNotFound, errors.SearchDisabled, errors.TooManyDocuments],
      },
      schema: {
        operationId: 'add_rag_documents',
        summary: 'Add documents to a collection; they can be found at once',
        params: shapes.CollectionParams,
        body: shapes.NewDocuments,
        response: { 200: Success(shapes.DocumentsIndexed) },
      },
      handler: async ({ caller, params, body }) =>
        success('Documents indexed', await documents.add(caller, params.collection_id, body)),
    })

    app.get('/health', {
      config: { auth: key('read'), downstream },
      schema: {
        operationId: 'get_rag_health',
        summary: 'Health of search, and its mode',
        response: { 200: Success(shapes.Health) },
      },
      handler: async ({ caller }) => success('Health retrieved', await health.health(caller)),
    })
  }

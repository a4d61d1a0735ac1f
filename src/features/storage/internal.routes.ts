import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Caller } from '../../access/caller.ts'
import { internal } from '../../access/labels.ts'
import { Nullable, OneOf } from '../../http/envelope.ts'
import type { CleanupService } from './cleanup/cleanup.service.ts'
import { CleanupRequest, DomainQuotaChange, MailboxQuotaChange } from './storage.schemas.ts'
import type { StorageManager } from './storage-manager.ts'
import { ENTITY_TYPES } from './usage/kinds.ts'

const hidden = { hide: true } as const
const EntityParams = Type.Object({ entity_type: OneOf(ENTITY_TYPES), identifier: Type.String() })
const MeasuredParams = Type.Object({
  entity_type: OneOf(['domain', 'mailbox']),
  identifier: Type.String(),
})
const QuotaCheckQuery = Type.Object({
  email: Type.String({ minLength: 3, maxLength: 320 }),
  bytes: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 })),
})
const Config = Type.Object({
  ...DomainQuotaChange.properties,
  ...MailboxQuotaChange.properties,
  reason: Type.Optional(Nullable(Type.String({ maxLength: 2000 }))),
})

/** Services of this installation say for whom they ask, and are trusted. */
const trusted = (caller: Caller): Caller => ({ ...caller, scope: 'platform' })

/** Called by other services of this installation; not part of the public API. */
export const storageManagerRoutes =
  (manager: StorageManager, cleanup: CleanupService): FastifyPluginAsyncTypebox =>
  async (app) => {
    const config = { auth: internal() }
    const changing = { auth: internal(), audited: true }

    app.get('/storage/usage/:entity_type/:identifier', {
      config,
      schema: { ...hidden, params: EntityParams },
      handler: ({ params }) => manager.usage(params.entity_type, params.identifier),
    })

    app.get('/storage/usage/:entity_type/:identifier/hierarchy', {
      config,
      schema: { ...hidden, params: EntityParams },
      handler: ({ params }) => manager.hierarchy(params.entity_type, params.identifier),
    })

    app.post('/storage/calculate/:entity_type/:identifier', {
      config: { ...config, downstream: 'Storage service unavailable' },
      schema: { ...hidden, params: MeasuredParams },
      handler: ({ caller, params }) =>
        manager.calculate(trusted(caller), params.entity_type, params.identifier),
    })

    app.get('/storage/quota-check', {
      config,
      schema: { ...hidden, querystring: QuotaCheckQuery },
      handler: ({ query }) => manager.quotaCheck(query.email, query.bytes ?? 0),
    })

    app.post('/storage/alerts/:entity_type/:identifier', {
      config,
      schema: { ...hidden, params: MeasuredParams },
      handler: ({ params }) => manager.alert(params.entity_type, params.identifier),
    })

    app.get('/storage/config/:entity_type/:identifier', {
      config,
      schema: { ...hidden, params: MeasuredParams },
      handler: ({ caller, params }) =>
        manager.config(trusted(caller), params.entity_type, params.identifier),
    })

    app.put('/storage/config/:entity_type/:identifier', {
      config: changing,
      schema: {
        ...hidden,
        operationId: 'set_storage_config',
        params: MeasuredParams,
        body: Config,
      },
      handler: ({ caller, params, body }) => {
        const { reason: _, ...sent } = body
        return manager.setConfig(trusted(caller), params.entity_type, params.identifier, sent)
      },
    })

    app.post('/storage/cleanup', {
      config: { ...changing, downstream: 'Storage service unavailable' },
      schema: { ...hidden, operationId: 'clean_up_storage', body: CleanupRequest },
      handler: ({ caller, body }) => cleanup.cleanUp(trusted(caller), body),
    })

    app.get('/storage/stats', { config, schema: hidden, handler: () => manager.stats() })
  }

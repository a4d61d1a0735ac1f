import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { none } from '../../../access/labels.ts'
import type { Core } from '../../../core.ts'
import { ApiError } from '../../../errors.ts'
import { limitAddresses } from '../../../http/address-limit.ts'
import type { WkdService } from './wkd.service.ts'

const PER_MINUTE = 120
const BASE = '/.well-known/openpgpkey'

// The draft fixes the formats, so the routes are described in docs/encryption.md only.
const config = { auth: none() }
const Hash = Type.Object({ hash: Type.String({ pattern: '^[a-z0-9]{1,64}$' }) })
const Domain = Type.Object({ domain: Type.String({ maxLength: 255 }) })
const DomainAndHash = Type.Object({ ...Domain.properties, ...Hash.properties })

// One answer for unknown addresses and domains that are not hosted here.
const notFound = () => new ApiError(404, 'Not found')

/** The Web Key Directory, which programs of other people read without a credential. */
export const wkdRoutes =
  (directory: WkdService, { now }: Pick<Core, 'now'>): FastifyPluginAsyncTypebox =>
  async (app) => {
    limitAddresses(app, now, PER_MINUTE)
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('access-control-allow-origin', '*')
    })

    async function keyOf(hostname: string, domain: string | undefined, hash: string) {
      const key = await directory.key(hostname, domain, hash)
      if (!key) throw notFound()
      return key
    }

    // An empty file: there is no submission over mail and no other policy.
    async function policyOf(hostname: string, domain?: string): Promise<string> {
      if (!(await directory.isHosted(hostname, domain))) throw notFound()
      return ''
    }

    app.get(`${BASE}/hu/:hash`, {
      config,
      schema: { hide: true, params: Hash },
      handler: async ({ hostname, params }, reply) =>
        reply.type('application/octet-stream').send(await keyOf(hostname, undefined, params.hash)),
    })

    app.get(`${BASE}/policy`, {
      config,
      schema: { hide: true },
      handler: async ({ hostname }, reply) =>
        reply.type('text/plain').send(await policyOf(hostname)),
    })

    app.get(`${BASE}/:domain/hu/:hash`, {
      config,
      schema: { hide: true, params: DomainAndHash },
      handler: async ({ hostname, params }, reply) =>
        reply
          .type('application/octet-stream')
          .send(await keyOf(hostname, params.domain, params.hash)),
    })

    app.get(`${BASE}/:domain/policy`, {
      config,
      schema: { hide: true, params: Domain },
      handler: async ({ hostname, params }, reply) =>
        reply.type('text/plain').send(await policyOf(hostname, params.domain)),
    })
  }

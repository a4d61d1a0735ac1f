import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { internal } from '../../access/labels.ts'
import { Body } from '../../http/envelope.ts'
import { pageOf } from '../../http/paging.ts'
import type { KeyService } from './pgp/keys.service.ts'
import type { MessageService } from './pgp/messages.service.ts'
import { MAX_BODY_BYTES } from './pgp/pgp.routes.ts'
import * as shapes from './pgp/pgp.schemas.ts'

export const organization_id = Type.String({ minLength: 1, maxLength: 255 })

export const whoseOf = (sent: { organization_id: string }) => ({
  organizationId: sent.organization_id,
})

/** Called by other services of this installation; the caller names the organization and is trusted. */
export const internalRoutes =
  (keys: KeyService, messages: MessageService): FastifyPluginAsyncTypebox =>
  async (app) => {
    const route = { config: { auth: internal() }, bodyLimit: MAX_BODY_BYTES }
    const KeyQuery = Type.Object({ ...shapes.KeyQuery.properties, organization_id })
    const OneKeyQuery = Type.Object({ ...shapes.OneKeyQuery.properties, organization_id })
    const one = { hide: true, params: shapes.KeyParams, querystring: OneKeyQuery }

    app.post('/pgp/generate', {
      ...route,
      schema: { hide: true, body: Body({ ...shapes.GenerateBody.properties, organization_id }) },
      handler: async ({ caller, body }, reply) => {
        const made = await keys.generate(caller, whoseOf(body), body.email, body)
        return made.key ?? reply.code(202).send(made.job)
      },
    })

    app.post('/pgp/import', {
      ...route,
      schema: { hide: true, body: Body({ ...shapes.ImportBody.properties, organization_id }) },
      handler: async ({ caller, body }) => keys.import(caller, whoseOf(body), body.email, body),
    })

    app.get('/pgp/jobs/:job_id', {
      ...route,
      schema: {
        hide: true,
        params: shapes.JobParams,
        querystring: Type.Object({ organization_id }),
      },
      handler: async ({ params, query }) => keys.job(whoseOf(query), params.job_id),
    })

    app.get('/pgp/keys', {
      ...route,
      schema: { hide: true, querystring: KeyQuery },
      handler: async ({ query }) =>
        (await keys.list(whoseOf(query), query.email, pageOf(query))).items,
    })

    app.get('/pgp/keys/:fingerprint', {
      ...route,
      schema: one,
      handler: async ({ params, query }) =>
        keys.get(whoseOf(query), params.fingerprint, query.email),
    })

    app.delete('/pgp/keys/:fingerprint', {
      ...route,
      schema: one,
      handler: async ({ caller, params, query }) =>
        keys.remove(caller, whoseOf(query), params.fingerprint, query.email),
    })

    app.post('/pgp/encrypt', {
      ...route,
      schema: { hide: true, body: Body({ ...shapes.EncryptBody.properties, organization_id }) },
      handler: async ({ body }) => messages.encrypt(whoseOf(body), body),
    })

    app.post('/pgp/decrypt', {
      ...route,
      schema: { hide: true, body: Body({ ...shapes.DecryptBody.properties, organization_id }) },
      handler: async ({ body }) => messages.decrypt(whoseOf(body), body.email, body),
    })

    app.post('/pgp/sign', {
      ...route,
      schema: { hide: true, body: Body({ ...shapes.SignBody.properties, organization_id }) },
      handler: async ({ body }) => messages.sign(whoseOf(body), body.email, body),
    })

    app.post('/pgp/verify', {
      ...route,
      schema: { hide: true, body: Body({ ...shapes.VerifyBody.properties, organization_id }) },
      handler: async ({ body }) => messages.verify(whoseOf(body), body),
    })
  }

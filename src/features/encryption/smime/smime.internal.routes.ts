import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { internal } from '../../../access/labels.ts'
import { Body } from '../../../http/envelope.ts'
import { pageOf } from '../../../http/paging.ts'
import { organization_id, whoseOf } from '../internal.routes.ts'
import { MAX_BODY_BYTES } from '../pgp/pgp.routes.ts'
import * as pgp from '../pgp/pgp.schemas.ts'
import type { CertificateService } from './certificates.service.ts'
import type { SmimeMessageService } from './messages.service.ts'
import * as shapes from './smime.schemas.ts'

/** Called by other services of this installation; the caller names the organization and is trusted. */
export const smimeInternalRoutes =
  (certificates: CertificateService, messages: SmimeMessageService): FastifyPluginAsyncTypebox =>
  async (app) => {
    const route = { config: { auth: internal() }, bodyLimit: MAX_BODY_BYTES }
    const CertificateQuery = Type.Object({ ...pgp.KeyQuery.properties, organization_id })
    const OneCertificateQuery = Type.Object({ ...pgp.OneKeyQuery.properties, organization_id })
    const one = { hide: true, params: shapes.CertificateParams, querystring: OneCertificateQuery }

    app.post('/smime/import', {
      ...route,
      schema: { hide: true, body: Body({ ...shapes.ImportBody.properties, organization_id }) },
      handler: async ({ caller, body }) =>
        certificates.import(caller, whoseOf(body), body.email, body),
    })

    app.get('/smime/certs', {
      ...route,
      schema: { hide: true, querystring: CertificateQuery },
      handler: async ({ query }) =>
        (await certificates.list(whoseOf(query), query.email, pageOf(query))).items,
    })

    app.get('/smime/certs/:fingerprint', {
      ...route,
      schema: one,
      handler: async ({ params, query }) =>
        certificates.get(whoseOf(query), params.fingerprint, query.email),
    })

    app.delete('/smime/certs/:fingerprint', {
      ...route,
      schema: one,
      handler: async ({ caller, params, query }) =>
        certificates.remove(caller, whoseOf(query), params.fingerprint, query.email),
    })

    app.post('/smime/encrypt', {
      ...route,
      schema: { hide: true, body: Body({ ...shapes.EncryptBody.properties, organization_id }) },
      handler: async ({ body }) => messages.encrypt(whoseOf(body), body),
    })

    app.post('/smime/decrypt', {
      ...route,
      schema: { hide: true, body: Body({ ...shapes.DecryptBody.properties, organization_id }) },
      handler: async ({ body }) => messages.decrypt(whoseOf(body), body.email, body),
    })

    app.post('/smime/sign', {
      ...route,
      schema: { hide: true, body: Body({ ...pgp.SignBody.properties, organization_id }) },
      handler: async ({ body }) => messages.sign(whoseOf(body), body.email, body),
    })

    app.post('/smime/verify', {
      ...route,
      schema: { hide: true, body: Body({ ...shapes.VerifyBody.properties, organization_id }) },
      handler: async ({ body }) => messages.verify(whoseOf(body), body),
    })
  }

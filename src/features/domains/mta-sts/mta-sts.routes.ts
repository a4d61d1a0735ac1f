import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { key } from '../../../access/labels.ts'
import { MTA_STS_MODES } from '../../../hosting/mta-sts.ts'
import { Body, Nullable, OneOf, Success, success, Timestamp } from '../../../http/envelope.ts'
import { DomainNotFound } from '../domains.errors.ts'
import { DomainParams } from '../domains.schemas.ts'
import { MtaStsNotReady, type MtaStsService } from './mta-sts.service.ts'

const Mode = OneOf(MTA_STS_MODES, {
  description:
    'testing: other hosts report problems and deliver; enforce: they deliver with verified TLS only',
  examples: ['testing'],
})

const MtaSts = Type.Object(
  {
    domain: Type.String({ examples: ['acme.example'] }),
    mode: Mode,
    served_mode: OneOf(MTA_STS_MODES, {
      description: 'In the policy now: `enforce` becomes `testing` while there are problems',
    }),
    policy: Type.String({ description: 'The file that other hosts fetch' }),
    policy_id: Type.String({ description: 'The id for the record of `_mta-sts`' }),
    policy_url: Type.String({ examples: ['https://mta-sts.acme.example/.well-known/mta-sts.txt'] }),
    problems: Type.Array(Type.String(), { description: 'Reasons that `enforce` would lose mail' }),
    checked_at: Nullable({ ...Timestamp, description: 'Last look at DNS under `enforce`' }),
  },
  { title: 'MtaSts' },
)

export const mtaStsRoutes =
  (mtaSts: MtaStsService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/:domain_id/mta-sts', {
      config: { auth: key('read'), errors: [DomainNotFound] },
      schema: {
        operationId: 'get_mta_sts',
        summary: 'The MTA-STS policy of a domain',
        params: DomainParams,
        response: { 200: Success(MtaSts) },
      },
      handler: async ({ caller, params }) =>
        success('MTA-STS policy retrieved', await mtaSts.get(caller, params.domain_id)),
    })

    app.put('/:domain_id/mta-sts', {
      config: { auth: key('write'), errors: [DomainNotFound, MtaStsNotReady] },
      schema: {
        operationId: 'update_mta_sts',
        summary: 'Set the mode of the MTA-STS policy',
        description:
          'For `enforce`, the certificate of the mail host, the MX records and the policy as other hosts fetch it are checked first. Publish the new id afterwards.',
        params: DomainParams,
        body: Body({ mode: Mode }),
        response: { 200: Success(MtaSts) },
      },
      handler: async ({ caller, params, body }) =>
        success('MTA-STS policy updated', await mtaSts.set(caller, params.domain_id, body.mode)),
    })
  }

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { none } from '../../../access/labels.ts'
import { ChallengeNotFound, type ChallengeService } from './challenges.service.ts'

export const challengeRoutes =
  (challenges: ChallengeService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/:token', {
      config: { auth: none(), errors: [ChallengeNotFound] },
      schema: {
        operationId: 'answer_acme_challenge',
        summary: 'Shows a CA that a name leads here (RFC 8555, HTTP-01)',
        params: Type.Object({ token: Type.String() }),
        produces: ['text/plain'],
      },
      handler: async ({ params }, reply) =>
        reply.type('text/plain; charset=utf-8').send(await challenges.answer(params.token)),
    })
  }

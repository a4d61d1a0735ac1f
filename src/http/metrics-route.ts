import type { FastifyInstance } from 'fastify'
import { none } from '../access/labels.ts'

/** `GET /metrics`: the metrics of every service on this listener. */
export function serveMetrics(app: FastifyInstance, render: () => Promise<string>): void {
  app.get('/metrics', {
    config: { auth: none() },
    schema: {
      operationId: 'metrics',
      summary: 'Metrics of the services on this listener, for a scraper',
      produces: ['text/plain'],
    },
    handler: async (_request, reply) => {
      return reply.type('text/plain; version=0.0.4; charset=utf-8').send(await render())
    },
  })
}

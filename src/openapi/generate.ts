import fastify, { type FastifyPluginAsync } from 'fastify'
import { serveMetrics } from '../http/metrics-route.ts'
import { collectRoutes, type DescribedRoute } from './collect.ts'

/** Collects the routes of these features without starting them. */
export async function describeRoutes(
  features: readonly { prefix: string; routes: FastifyPluginAsync }[],
): Promise<DescribedRoute[]> {
  const app = fastify()
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => JSON.stringify)
  const routes = collectRoutes(app)
  serveMetrics(app, async () => '')
  for (const { prefix, routes: plugin } of features) await app.register(plugin, { prefix })
  await app.ready()
  return routes
}

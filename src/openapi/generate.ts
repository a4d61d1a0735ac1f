import fastify from 'fastify'
import { readConfig } from '../config.ts'
import type { Core } from '../core.ts'
import { apiFeatures } from '../daemons/api.ts'
import { webhooksFeatures } from '../daemons/webhooks.ts'
import { serveMetrics } from '../http/metrics-route.ts'
import { collectRoutes, type DescribedRoute } from './collect.ts'

/** The routes as the code declares them; features do nothing before their first request. */
export async function describeRoutes(): Promise<DescribedRoute[]> {
  const app = fastify()
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => JSON.stringify)
  const routes = collectRoutes(app)
  serveMetrics(app, [])
  const core = { config: readConfig({}) } as Core
  const features = [...apiFeatures(core), ...webhooksFeatures(core, () => {})]
  for (const { prefix, routes: plugin } of features) await app.register(plugin, { prefix })
  await app.ready()
  return routes
}

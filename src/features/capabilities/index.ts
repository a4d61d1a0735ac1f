import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { none } from '../../access/labels.ts'
import type { Core } from '../../core.ts'
import { Success, success } from '../../http/envelope.ts'
import type { Feature } from '../feature.ts'
import { Manifest } from './capabilities.schemas.ts'
import type { Manifest as CapabilityManifest } from './manifest.ts'

export const capabilities = (
  _core: Core,
  { manifest }: { manifest: () => CapabilityManifest },
): Feature => ({
  prefix: '/api/v1/capabilities',
  routes: routes(manifest),
})

const routes =
  (manifest: () => CapabilityManifest): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/', {
      prefixTrailingSlash: 'slash',
      config: { auth: none() },
      schema: {
        operationId: 'get_capabilities',
        summary: 'Get the capabilities of this deployment',
        description:
          'The manifest is in `data` and, for clients that read it before login, at top level.',
        response: {
          200: Type.Object({ ...Success(Manifest).properties, ...Manifest.properties }),
        },
      },
      handler: async () => ({
        ...success('Capabilities retrieved successfully', manifest()),
        ...manifest(),
      }),
    })
  }

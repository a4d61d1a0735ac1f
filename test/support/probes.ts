import type { Auth } from '../../src/access/labels.ts'
import type { Feature } from '../../src/features/feature.ts'
import { Done, done } from '../../src/http/envelope.ts'

/** Two test routes, one that reads and one that writes, with one label. */
export const probe = (prefix: string, auth: Auth): Feature => ({
  prefix,
  routes: async (app) => {
    for (const method of ['GET', 'POST'] as const) {
      app.route({
        method,
        url: '',
        config: { auth },
        schema: { operationId: `probe_${method.toLowerCase()}`, response: { 200: Done } },
        handler: async () => done('Let in'),
      })
    }
  },
})

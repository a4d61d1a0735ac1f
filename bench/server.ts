import { readConfig } from '../src/config/index.ts'
import { startCore } from '../src/core.ts'
import { restartsOf } from '../src/daemons/restarts.ts'
import { runningEmbedded } from '../src/database/embedded.ts'
import { apiFeatures, offeredIn } from '../src/features/index.ts'
import { webhookQueue } from '../src/features/webhooks/delivery/enqueue.ts'
import { metrics } from '../src/http/metrics.ts'
import { httpServer } from '../src/http/server.ts'
import { serviceLog } from '../src/log.ts'
import { benchDomains } from './feature/index.ts'

// The API with one more feature, on the database of the server that already runs.
const config = readConfig()
const target = runningEmbedded(config.DATA_DIR)
if (!target) throw new Error('the embedded PostgreSQL is not running')
const { log, close } = serviceLog('bench', config)
const core = await startCore({ config, log, target, listeners: [webhookQueue(config)] })
const features = [
  ...offeredIn(config.SVC_EDITION, await apiFeatures(core, restartsOf(core))),
  benchDomains(core),
]
const app = await httpServer(core, [{ name: 'bench', log, metrics: metrics('bench'), features }])
process.stdout.write(`${await app.listen({ host: config.HOST, port: config.PORT ?? 0 })}\n`)

process.once('SIGTERM', async () => {
  await app.close()
  await core.close()
  close()
  process.exit(0)
})

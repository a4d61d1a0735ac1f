import { readConfig } from '../src/config.ts'
import { startCore } from '../src/core.ts'
import { apiFeatures } from '../src/daemons/api.ts'
import { runningEmbedded } from '../src/database/embedded.ts'
import { metrics } from '../src/http/metrics.ts'
import { httpServer } from '../src/http/server.ts'
import { serviceLog } from '../src/log.ts'
import { benchDomains } from './feature/index.ts'

// The API as it is served, with one feature more, on the database of the server that runs already.
const config = readConfig()
const target = runningEmbedded(config.DATA_DIR)
if (!target) throw new Error('the embedded PostgreSQL is not running')
const { log, close } = serviceLog('bench', config)
const core = await startCore({ config, log, target })
const features = [...apiFeatures(core), benchDomains(core)]
const app = await httpServer(core, [{ name: 'bench', log, metrics: metrics('bench'), features }])
process.stdout.write(`${await app.listen({ host: config.HOST, port: config.PORT ?? 0 })}\n`)

process.once('SIGTERM', async () => {
  await app.close()
  await core.close()
  close()
  process.exit(0)
})

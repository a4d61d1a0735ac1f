import { parseArgs } from 'node:util'
import { readConfig } from '../config/index.ts'
import { prepareDataDir } from '../database/data-dir.ts'
import { serviceUser } from '../edge/service-user.ts'
import { startHelper } from '../privileges/helper.ts'
import { giveDataDir } from '../privileges/ownership.ts'
import { StartupError } from '../startup-error.ts'
import { UsageError } from './usage.ts'

/** Runs the helper of a server that a service manager starts as another user. */
export async function helperCommand(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { socket: { type: 'string' } } })
  if (values.socket === undefined) throw new UsageError('helper takes --socket PATH')
  const config = readConfig()
  const user = serviceUser(config)
  if (user === undefined) {
    throw new StartupError('the helper runs as root, for the user SVC_USER')
  }
  prepareDataDir(config.DATA_DIR)
  giveDataDir(config.DATA_DIR, user)
  // A mail server that starts in the sandbox of the service manager would have no network.
  const helper = await startHelper(config, values.socket, user, { canRestart: false })
  process.stdout.write(`The helper listens on ${values.socket} for ${user.name}\n`)
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, async () => {
      await helper.stop()
      process.exit(0)
    })
  }
}

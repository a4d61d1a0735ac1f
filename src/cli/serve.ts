import { parseArgs } from 'node:util'
import { readConfig } from '../config/index.ts'
import { serviceUser } from '../edge/service-user.ts'

export async function serveCommand(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { services: { type: 'string' }, 'list-services': { type: 'boolean' } },
  })
  if (values['list-services']) {
    const { daemons } = await import('../daemons/index.ts')
    for (const { name, port } of daemons) process.stdout.write(`${name}\t${port}\n`)
    return
  }
  const config = readConfig()
  const user = serviceUser(config)
  // Loaded on demand: the process that stays root needs none of the API.
  if (user) return (await import('../privileges/as-user.ts')).serveAsUser(config, user, args)
  await (await import('../serve.ts')).serve(values.services)
}

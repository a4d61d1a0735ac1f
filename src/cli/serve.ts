import { parseArgs } from 'node:util'
import { daemons } from '../daemons/index.ts'
import { serve } from '../serve.ts'

export async function serveCommand(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { services: { type: 'string' }, 'list-services': { type: 'boolean' } },
  })
  if (values['list-services']) {
    for (const { name, port } of daemons) process.stdout.write(`${name}\t${port}\n`)
    return
  }
  await serve(values.services)
}

import { serve } from '../serve.ts'
import { explainStartFailure } from '../startup-error.ts'
import { databaseCommands } from './db.ts'
import { keyCommands } from './keys.ts'
import { openapiCommand } from './openapi.ts'
import { serveCommand } from './serve.ts'
import { UsageError } from './usage.ts'

const USAGE = `usage: mailplane COMMAND [--json]

  serve [--services a,b] [--list-services]
  keys create --organization ID --name TEXT [--read-only] [--admin]
              [--scope organization|platform] [--expires-at ISO]
  keys list [--organization ID]
  keys revoke KEY_ID
  db url | db migrate | db status
  openapi
`

/** Runs one command and sets the exit status: 1 for a failure, 2 for wrong usage. */
export async function main(args: string[]): Promise<void> {
  const [command, ...rest] = args
  try {
    switch (command) {
      case 'serve':
        return await serveCommand(rest, serve)
      case 'keys':
        return await keyCommands(rest)
      case 'db':
        return await databaseCommands(rest)
      case 'openapi':
        return await openapiCommand()
      case 'help':
      case '--help':
      case '-h':
        process.stdout.write(USAGE)
        return
      default:
        throw new UsageError(
          command === undefined ? 'a command is missing' : `unknown command "${command}"`,
        )
    }
  } catch (error) {
    const usage =
      error instanceof UsageError || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')
    process.stderr.write(
      `mailplane: ${usage ? (error as Error).message : explainStartFailure(error)}\n`,
    )
    if (usage) process.stderr.write(`\n${USAGE}`)
    process.exitCode = usage ? 2 : 1
  }
}

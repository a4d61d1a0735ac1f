import { explainStartFailure } from '../startup-error.ts'
import { UsageError } from './usage.ts'

const USAGE = `usage: mailplane COMMAND [--json]

  serve [--services a,b] [--list-services]
  keys create --organization ID --name TEXT [--read-only] [--admin]
              [--scope organization|platform] [--expires-at ISO]
  keys list [--organization ID]
  keys revoke KEY_ID
  db url | db migrate | db status
  backup [--out FILE] | backup verify FILE
  restore FILE [--force]
  edge up | edge down [--delete] | edge status
  edge render [--out DIR]
  openapi
`

/** Runs one command and sets the exit status: 1 for a failure, 2 for wrong usage. */
export async function main(args: string[]): Promise<void> {
  const [command, ...rest] = args
  try {
    switch (command) {
      // Loaded when asked for: a key is issued without the whole API in memory.
      case 'serve':
        return await (await import('./serve.ts')).serveCommand(rest)
      case 'keys':
        return await (await import('./keys.ts')).keyCommands(rest)
      case 'db':
        return await (await import('./db.ts')).databaseCommands(rest)
      case 'backup':
        return await (await import('./backup.ts')).backupCommand(rest)
      case 'restore':
        return await (await import('./backup.ts')).restoreCommand(rest)
      case 'edge':
        return await (await import('./edge.ts')).edgeCommands(rest)
      case 'openapi':
        return await (await import('./openapi.ts')).openapiCommand()
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

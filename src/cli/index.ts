import { explainStartFailure } from '../startup-error.ts'
import { UsageError } from './usage.ts'

export const USAGE = `usage: mailplane COMMAND [--json]

  serve [--services a,b] [--list-services]
  keys create --organization ID --name TEXT [--read-only] [--admin]
              [--scope organization|platform] [--expires-at ISO]
  keys list [--organization ID]
  keys revoke KEY_ID [--reason TEXT]
  operators rescue EMAIL [--reason TEXT]
  throttles list | throttles lift --account NAME | --ip IP --reason TEXT
  trace [--login NAME] [--sender ADDRESS] [--recipient ADDRESS] [--message-id ID]
        [--status delivered|bounced|deferred|rejected|held] [--since ISO] [--until ISO] [--limit N]
  feedback list [--all] | feedback process FEEDBACK_ID --reason TEXT
  feedback reopen FEEDBACK_ID --reason TEXT
  queue list
  queue hold|release|requeue|delete QUEUE_ID --reason TEXT
  queue hold|release|requeue|delete --sender ADDRESS|@DOMAIN [--yes] --reason TEXT
  blocked-senders list [--organization ID]
  blocked-senders unblock BLOCK_ID --reason TEXT
  ip-rules list [--organization ID] | ip-rules delete RULE_ID --reason TEXT
  ip-rules add ADDRESS|NETWORK --organization ID --type whitelist|blacklist
               [--applies-to smtp,mailbox,api] [--description TEXT] --reason TEXT
  logs [--service NAME] [--level LEVEL] [--q TEXT] [--since ISO] [--lines N]
  alerts list | alerts add-defaults [--email ADDRESS]
  system-mail test EMAIL
  warm-ups list | warm-ups set IP --target N --days N [--organization ID] --reason TEXT
  warm-ups pause IP --reason TEXT | warm-ups resume IP --reason TEXT
  warm-ups delete IP --reason TEXT
  isp-limits list | isp-limits delete DOMAIN --reason TEXT
  isp-limits set DOMAIN [--hourly N] [--daily N] [--burst N] [--delay MS] --reason TEXT
  archive export --organization ID --out FILE --reason TEXT
  domains verify NAME [--organization ID] [--reason TEXT]
  db url | db migrate [--plan] | db status
  backup [--out FILE] | backup list
  backup verify FILE|S3_URL|latest | backup upload FILE
  backup drill [FILE|S3_URL|latest] [--report FILE]
  backup report BACKUP_ID running|completed|failed [--host NAME] [--target database|mail|config|all]
                [--size BYTES] [--path TEXT] [--unencrypted] [--error TEXT]
  backup forget-host NAME
  restore FILE|S3_URL|latest [--force]
  restore FILE|S3_URL|latest --organization ID|--mailbox ADDRESS [--replace] --dry-run|--reason TEXT
  edge up | edge down [--delete] | edge status
  edge render [--out DIR]
  edge up|render --host NAME --role proxy,backend,mx,submission,outbound
  edge run [--services a,b]
  helper --socket PATH
  openapi
`

const LEAVE_MS = 5000

/** Runs one command and sets the exit status: 1 for a failure, 2 for wrong usage. */
export async function main(args: string[]): Promise<void> {
  const [command, ...rest] = args
  // A reader such as `head` may close the pipe early; a server goes on without its output.
  if (command !== 'serve' && command !== 'part') process.stdout.on('error', endOnClosedPipe)
  try {
    switch (command) {
      // Loaded on demand, so that a short command does not load the whole API.
      case 'serve':
        return await (await import('./serve.ts')).serveCommand(rest)
      // One of the processes that `serve` starts.
      case 'part':
        return await (await import('../processes/part.ts')).runPart()
      case 'keys':
        return await (await import('./keys.ts')).keyCommands(rest)
      case 'operators':
        return await (await import('./operators.ts')).operatorCommands(rest)
      case 'throttles':
        return await (await import('./throttles.ts')).throttleCommands(rest)
      case 'trace':
        return await (await import('./trace.ts')).traceCommand(rest)
      case 'feedback':
        return await (await import('./feedback.ts')).feedbackCommands(rest)
      case 'queue':
        return await (await import('./queue.ts')).queueCommands(rest)
      case 'blocked-senders':
        return await (await import('./blocked-senders.ts')).blockedSenderCommands(rest)
      case 'ip-rules':
        return await (await import('./ip-rules.ts')).ipRuleCommands(rest)
      case 'logs':
        return await (await import('./logs.ts')).logsCommand(rest)
      case 'alerts':
        return await (await import('./alerts.ts')).alertCommands(rest)
      case 'system-mail':
        return await (await import('./system-mail.ts')).systemMailCommands(rest)
      case 'warm-ups':
        return await (await import('./pacing.ts')).warmUpCommands(rest)
      case 'isp-limits':
        return await (await import('./pacing.ts')).limitCommands(rest)
      case 'archive':
        return await (await import('./archive.ts')).archiveCommands(rest)
      case 'domains':
        return await (await import('./domains.ts')).domainCommands(rest)
      case 'db':
        return await (await import('./db.ts')).databaseCommands(rest)
      case 'backup':
        return await (await import('./backup.ts')).backupCommand(rest)
      case 'restore':
        return await (await import('./restore.ts')).restoreCommand(rest)
      case 'edge':
        return await (await import('./edge.ts')).edgeCommands(rest)
      case 'helper':
        return await (await import('./helper.ts')).helperCommand(rest)
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
    // Ends a command that failed because a database or a storage hangs and whose connection stays.
    if (command !== 'serve') setTimeout(() => process.exit(), LEAVE_MS).unref()
  }
}

function endOnClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
  process.exit(0)
}

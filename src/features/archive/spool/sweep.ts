import type { Core } from '../../../core.ts'
import { stillWaiting } from '../store/archive.repository.ts'
import { openSpool } from './spool.ts'

/** Removes files that a crash left: of messages that were not accepted, or are uploaded. */
export async function sweepSpool({
  config,
  db,
  log,
  now,
}: Pick<Core, 'config' | 'db' | 'log' | 'now'>) {
  const spool = openSpool(config)
  const spoolId = await spool.id()
  const idOf = (name: string) => name.split('.')[0] ?? ''
  const removed = await spool.sweep((names) => stillWaiting(db, spoolId, names.map(idOf)), now())
  if (removed > 0) log.info({ removed }, 'abandoned files of the archive spool removed')
  return removed
}

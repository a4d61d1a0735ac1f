import type { ImapFlow } from 'imapflow'
import { setOf } from '../../../mail/imap/messages.ts'
import * as copied from './copied.repository.ts'
import type { Run } from './run.ts'

export interface FlagChange {
  sourceUid: number
  targetUid: number
  before: string[]
  now: string[]
}

/**
 * Applies flag changes of the source to the target. Only the difference is applied, so that flags set at
 * the target stay.
 */
export async function carryFlags(
  run: Run,
  target: ImapFlow,
  folder: { id: number; target_path: string },
  changes: readonly FlagChange[],
): Promise<void> {
  if (changes.length === 0) return
  await target.mailboxOpen(folder.target_path)
  const added = grouped(changes, ({ before, now }) => now.filter((flag) => !before.includes(flag)))
  const removed = grouped(changes, ({ before, now }) =>
    before.filter((flag) => !now.includes(flag)),
  )
  for (const [flags, uids] of added) {
    await target.messageFlagsAdd(setOf(uids), flags.split(' '), { uid: true })
  }
  for (const [flags, uids] of removed) {
    await target.messageFlagsRemove(setOf(uids), flags.split(' '), { uid: true })
  }
  await run.core.db.transaction().execute((tx) =>
    copied.remember(
      tx,
      folder.id,
      changes.map(({ sourceUid, targetUid, now }) => ({
        source_uid: sourceUid,
        target_uid: targetUid,
        flags: now.join(' '),
      })),
    ),
  )
}

/** Groups messages by changed flags, because each group needs one command only. */
function grouped(changes: readonly FlagChange[], flagsOf: (change: FlagChange) => string[]) {
  const groups = new Map<string, number[]>()
  for (const change of changes) {
    const flags = flagsOf(change).join(' ')
    if (flags === '') continue
    groups.set(flags, [...(groups.get(flags) ?? []), change.targetUid])
  }
  return groups
}

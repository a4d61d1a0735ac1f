import { Readable } from 'node:stream'
import type { Core } from '../../../core.ts'
import { type ArchiveWriter, pathPart } from '../../../lib/archive-writer.ts'
import { archivedMessages } from '../../archive/archived-messages.ts'
import { storedPieces } from '../../message-trace/stored-message.ts'
import type { Person } from '../personal-data/personal-table.ts'
import { recordsOf } from '../personal-data/records.repository.ts'
import { register } from '../personal-data/register.ts'

/** Adds the rows of every table of the register that has no file of its own, and quarantined messages. */
export async function addRecords(
  needs: Pick<Core, 'config' | 'db' | 'now' | 'outbound' | 'vault'>,
  persons: readonly Person[],
  archive: ArchiveWriter,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  const quarantined: string[] = []
  const archived: string[] = []
  for (const entry of register.filter(({ exported }) => exported === 'records')) {
    const rows = recordsOf(needs.db, entry, ...persons)
    const first = await rows.next()
    if (first.done) continue
    let count = 0
    const line = (row: Record<string, unknown>) => {
      count++
      if (entry.table === 'quarantine') quarantined.push(String(row.id))
      if (entry.table === 'archived_messages') archived.push(String(row.id))
      return `${JSON.stringify(row)}\n`
    }
    async function* lines(row: Record<string, unknown>) {
      yield line(row)
      for await (const next of rows) yield line(next)
    }
    await archive.stream(`records/${entry.table}.ndjson`, Readable.from(lines(first.value)))
    counts[entry.table] = count
  }
  for (const id of quarantined) {
    await archive.stream(`quarantine/${pathPart(id)}.eml`, Readable.from(storedPieces(needs, id)))
  }
  return { ...counts, ...(await addArchived(needs, archived, archive)) }
}

/** Adds the archived messages themselves, each verified by its hash; damaged ones are counted. */
async function addArchived(
  needs: Pick<Core, 'config' | 'db' | 'now' | 'outbound' | 'vault'>,
  ids: readonly string[],
  archive: ArchiveWriter,
): Promise<Record<string, number>> {
  if (ids.length === 0) return {}
  const counts = { archived_messages_damaged: 0 }
  for await (const { id, message } of archivedMessages(needs, ids)) {
    if (message) await archive.stream(`archive/${id}.eml`, Readable.from([message]))
    else counts.archived_messages_damaged++
  }
  return counts
}

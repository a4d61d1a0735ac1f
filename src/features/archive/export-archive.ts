import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Core } from '../../core.ts'
import { record } from '../../hosting/compliance-trail.repository.ts'
import { archiveWriter } from '../../lib/archive-writer.ts'
import { StartupError } from '../../startup-error.ts'
import { organizationExists } from './archive.repository.ts'
import { Damaged } from './sealing/sealed-message.ts'
import { find } from './search/search.repository.ts'
import type { Storages } from './storage/storage.ts'
import { storedAfter } from './store/archive.repository.ts'
import { Gone, readArchive } from './store/read-archive.ts'

const BATCH_SIZE = 100

interface Needs extends Pick<Core, 'config' | 'db' | 'now' | 'vault'> {
  storages: Storages
}

interface Request {
  organizationId: string
  path: string
  reason: string
}

/**
 * Writes every archived message of an organization, verified, with its metadata to a zip file. The file gets
 * its name when it is complete. Damaged messages are named in it and left out.
 */
export async function exportArchive(needs: Needs, { organizationId, path, reason }: Request) {
  const { db, now, storages } = needs
  if (!(await organizationExists(db, organizationId))) {
    throw new StartupError(`there is no organization ${organizationId}`)
  }
  const counts = { messages: 0, damaged: 0 }
  const archive = archiveWriter()
  const unfinished = `${path}.unfinished`
  const writing = pipeline(
    archive.output,
    createWriteStream(unfinished, { mode: 0o600, flush: true }),
  )
  // The await below throws it; until then it must not count as unhandled.
  writing.catch(() => {})
  try {
    const reader = readArchive(needs, storages)
    const lines: string[] = []
    let after = ''
    for (;;) {
      const rows = await storedAfter(db, organizationId, after, BATCH_SIZE)
      for (const row of rows) {
        after = row.id
        const about = await find(db, organizationId, row.id)
        try {
          const message = await reader.read(row)
          await archive.stream(`messages/${row.id}.eml`, Readable.from([message]))
          lines.push(`${JSON.stringify({ ...about, sha256: row.content_hash.toString('hex') })}\n`)
          counts.messages++
        } catch (error) {
          if (error instanceof Gone) continue
          if (!(error instanceof Damaged)) throw error
          lines.push(`${JSON.stringify({ ...about, damaged: error.message })}\n`)
          counts.damaged++
        }
      }
      if (rows.length < BATCH_SIZE) break
    }
    await archive.stream('index.ndjson', Readable.from(lines))
    archive.end()
    await writing
    await db.transaction().execute((tx) => {
      const details = { ...counts, reason, by: 'command line' }
      const action = 'archive.exported'
      return record(tx, undefined, { action, organization_id: organizationId, details }, now())
    })
    await rename(unfinished, path)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
  return counts
}

import { createReadStream, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Core } from '../../../core.ts'
import { deleteParts, partOf } from './export-parts.repository.ts'
import * as exports from './exports.repository.ts'
import { storeParts } from './sealed-archive.ts'

/**
 * Moves archives of earlier versions, which were files of one machine, into the database. Files that no
 * export refers to cannot be opened any more and are removed.
 */
export async function adoptFiles({ config, db }: Pick<Core, 'config' | 'db'>): Promise<void> {
  const folder = join(config.DATA_DIR, 'exports')
  const names = namesIn(folder)
  if (names.length === 0) return
  const referenced = await exports.referencedFiles(db, names)
  for (const name of names) {
    const path = join(folder, name)
    const id = referenced.get(name)
    if (id !== undefined) await adopt(db, name, id, path)
    rmSync(path, { force: true })
  }
}

const adopt = (db: Core['db'], name: string, id: string, path: string) =>
  db.transaction().execute(async (tx) => {
    // Another process with the same folder may be doing the same.
    if (!(await exports.lock(tx, id)) || (await partOf(tx, name, 0)) !== undefined) return
    await deleteParts(tx, [name])
    await storeParts(tx, name, id, createReadStream(path))
  })

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

import { createHash } from 'node:crypto'
import {
  createReadStream,
  createWriteStream,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import type { Sql } from 'postgres'
import type { Config } from '../config/index.ts'
import { syncFolder } from '../lib/durable-file.ts'
import { StartupError } from '../startup-error.ts'
import { VERSION } from '../version.ts'
import { dump } from './dump.ts'
import { explained, prepareFolder, stampOf, unfinishedOf } from './files.ts'
import { type About, decode, type Record, rowsIn } from './records.ts'
import { seal, unseal } from './sealing.ts'
import { watchProgress } from './watch.ts'

const MIN_PASSPHRASE = 12
const READ_BYTES = 1024 * 1024
export const ROOT_KEY = 'secret-key'

type Settings = Pick<
  Config,
  'BACKUP_DIR' | 'BACKUP_PASSPHRASE' | 'BACKUP_TIMEOUT_SECONDS' | 'DATA_DIR' | 'SVC_SECRET_KEY'
>

/** The bytes of a backup, wherever it is. */
export interface Source {
  /** For messages. */
  name: string
  bytes(): AsyncIterable<Buffer>
}

export const fileSource = (path: string): Source => ({
  name: path,
  bytes() {
    if (!existsSync(path)) throw new StartupError(`there is no file ${path}`)
    return createReadStream(path, { highWaterMark: READ_BYTES })
  },
})

export function passphraseOf({ BACKUP_PASSPHRASE: passphrase }: Settings): string {
  if (!passphrase || passphrase.length < MIN_PASSPHRASE) {
    throw new StartupError(
      `set BACKUP_PASSPHRASE to ${MIN_PASSPHRASE} characters or more; without it a backup cannot be read, so keep a copy elsewhere`,
    )
  }
  return passphrase
}

interface Making {
  sql: Sql
  settings: Settings
  path: string
  at: Date
  progress(table: string, rows: number): void
}

/**
 * Writes database and root key into one encrypted file, which is renamed after verification. Fails
 * when nothing moves for BACKUP_TIMEOUT_SECONDS.
 */
export async function makeBackup({ sql, settings, path, at, progress }: Making) {
  const passphrase = passphraseOf(settings)
  if (existsSync(path)) throw new StartupError(`${path} is there already`)
  prepareFolder(path, settings, at)
  const unfinished = unfinishedOf(path)
  const hash = createHash('sha256')
  const watch = watchProgress(settings.BACKUP_TIMEOUT_SECONDS)
  try {
    const about = {
      backup_id: stampOf(at),
      hostname: hostname(),
      created_at: at.toISOString(),
      version: VERSION,
    }
    const files = [{ name: ROOT_KEY, text: rootKeyOf(settings) }]
    watch.step('connecting to the database')
    const begin = (table: string) => watch.step(`reading the table ${table}, or writing ${path}`)
    const writing = pipeline(
      dump(sql, { about, files, begin, progress }),
      createGzip({ level: 1 }),
      (bytes: AsyncIterable<Buffer>) => seal(bytes, passphrase),
      async function* (bytes: AsyncIterable<Buffer>) {
        for await (const piece of bytes) {
          watch.moved()
          hash.update(piece)
          yield piece
        }
      },
      createWriteStream(unfinished, { mode: 0o600, flush: true }),
      { signal: watch.signal },
    )
    await watch.guard(writing)
    watch.step(`reading ${path} again`)
    const verifying = verifyBackup(fileSource(unfinished), passphrase, watch.moved)
    const { tables, rows } = await watch.guard(verifying)
    renameSync(unfinished, path)
    await watch.guard(syncFolder(dirname(path)))
    return { tables, rows, path, size_bytes: statSync(path).size, checksum: hash.digest('hex') }
  } catch (error) {
    throw explained(error, path)
  } finally {
    watch.end()
    rmSync(unfinished, { force: true })
  }
}

interface Verified {
  about: About
  tables: number
  rows: number
  /** SHA-256 of the file. */
  checksum: string
}

/** Reads the whole backup; throws when a part is missing or was changed. */
export async function verifyBackup(
  source: Source,
  passphrase: string,
  moved: () => void = () => {},
): Promise<Verified> {
  const hash = createHash('sha256')
  let about: About | undefined
  let tables = 0
  let rows = 0
  let inTable = 0
  let isWhole = false
  const take = (piece: Buffer) => {
    hash.update(piece)
    moved()
  }
  for await (const record of recordsOf(source, passphrase, take)) {
    if (record.kind === 'about') about = record.about
    if (record.kind === 'rows') inTable += rowsIn(record.bytes)
    if (record.kind === 'table end') {
      if (record.rows !== inTable) throw new StartupError('the backup is damaged')
      tables++
      rows += inTable
      inTable = 0
    }
    isWhole = record.kind === 'end' && record.tables === tables && record.rows === rows
  }
  if (!about || !isWhole) throw new StartupError('the backup is cut off')
  return { about, tables, rows, checksum: hash.digest('hex') }
}

/** `take` gets every piece of the file before it is decrypted. */
export async function* recordsOf(
  source: Source,
  passphrase: string,
  take: (piece: Buffer) => void = () => {},
): AsyncGenerator<Record> {
  const gunzip = createGunzip()
  const reading = pipeline(
    source.bytes(),
    async function* (bytes: AsyncIterable<Buffer>) {
      for await (const piece of bytes) {
        take(piece)
        yield piece
      }
    },
    (bytes: AsyncIterable<Buffer>) => unseal(bytes, passphrase),
    gunzip,
  )
  // decode() or the await below throws the error; until then it must not count as unhandled.
  reading.catch(() => {})
  yield* decode(gunzip)
  await reading
}

export function rootKeyOf({
  DATA_DIR,
  SVC_SECRET_KEY,
}: Pick<Settings, 'DATA_DIR' | 'SVC_SECRET_KEY'>): string {
  if (SVC_SECRET_KEY !== undefined) return SVC_SECRET_KEY
  try {
    return readFileSync(join(DATA_DIR, ROOT_KEY), 'utf8').trim()
  } catch {
    throw new StartupError(
      `${join(DATA_DIR, ROOT_KEY)} cannot be read; a backup without the root key is useless`,
    )
  }
}

import { createHash } from 'node:crypto'
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import type { Sql } from 'postgres'
import type { Config } from '../config/index.ts'
import { DAY_MS } from '../lib/time.ts'
import { StartupError } from '../startup-error.ts'
import { VERSION } from '../version.ts'
import { dump } from './dump.ts'
import { decode, type Record, rowsIn } from './records.ts'
import { seal, unseal } from './sealing.ts'

const MIN_PASSPHRASE = 12
const NAME = /^mailplane-(\d{8}T\d{6}Z)\.backup$/
export const ROOT_KEY = 'secret-key'

type Settings = Pick<
  Config,
  'BACKUP_DIR' | 'BACKUP_PASSPHRASE' | 'BACKUP_RETENTION_DAYS' | 'DATA_DIR' | 'SVC_SECRET_KEY'
>

export function passphraseOf({ BACKUP_PASSPHRASE: passphrase }: Settings): string {
  if (!passphrase || passphrase.length < MIN_PASSPHRASE) {
    throw new StartupError(
      `set BACKUP_PASSPHRASE to ${MIN_PASSPHRASE} characters or more; without it a backup cannot be read, so keep a copy elsewhere`,
    )
  }
  return passphrase
}

/** The id of a run, such as `20261115T101500Z`. */
export const stampOf = (time: Date): string =>
  time.toISOString().replace(/[-:]/g, '').replace(/\.\d+/, '')

export const folderOf = ({ BACKUP_DIR, DATA_DIR }: Settings): string =>
  BACKUP_DIR ?? join(DATA_DIR, 'backups')

interface Making {
  sql: Sql
  settings: Settings
  path: string
  at: Date
  progress(table: string, rows: number): void
}

/** Writes database and root key into one encrypted file, which is renamed after verification. */
export async function makeBackup({ sql, settings, path, at, progress }: Making) {
  const passphrase = passphraseOf(settings)
  if (existsSync(path)) throw new StartupError(`${path} is there already`)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const unfinished = `${path}.unfinished`
  const hash = createHash('sha256')
  try {
    const about = {
      backup_id: stampOf(at),
      hostname: hostname(),
      created_at: at.toISOString(),
      version: VERSION,
    }
    const files = [{ name: ROOT_KEY, text: rootKeyOf(settings) }]
    await pipeline(
      dump(sql, { about, files, progress }),
      createGzip({ level: 1 }),
      (bytes: AsyncIterable<Buffer>) => seal(bytes, passphrase),
      async function* (bytes: AsyncIterable<Buffer>) {
        for await (const piece of bytes) {
          hash.update(piece)
          yield piece
        }
      },
      createWriteStream(unfinished, { mode: 0o600, flush: true }),
    )
    const counts = await verifyBackup(unfinished, passphrase)
    renameSync(unfinished, path)
    await syncFolder(dirname(path))
    return { ...counts, path, size_bytes: statSync(path).size, checksum: hash.digest('hex') }
  } finally {
    rmSync(unfinished, { force: true })
  }
}

/** Reads the whole backup; throws when a part is missing or was changed. */
export async function verifyBackup(path: string, passphrase: string) {
  let tables = 0
  let rows = 0
  let inTable = 0
  for await (const record of recordsOf(path, passphrase)) {
    if (record.kind === 'rows') inTable += rowsIn(record.bytes)
    if (record.kind === 'table end') {
      if (record.rows !== inTable) throw new StartupError('the backup is damaged')
      tables++
      rows += inTable
      inTable = 0
    }
    if (record.kind === 'end' && record.tables === tables && record.rows === rows) {
      return { tables, rows }
    }
  }
  throw new StartupError('the backup is cut off')
}

export async function* recordsOf(path: string, passphrase: string): AsyncGenerator<Record> {
  if (!existsSync(path)) throw new StartupError(`there is no file ${path}`)
  const gunzip = createGunzip()
  const reading = pipeline(
    createReadStream(path, { highWaterMark: 1024 * 1024 }),
    (bytes: AsyncIterable<Buffer>) => unseal(bytes, passphrase),
    gunzip,
  )
  // decode() or the await below throws the error; until then it must not count as unhandled.
  reading.catch(() => {})
  yield* decode(gunzip)
  await reading
}

/** Removes backups older than BACKUP_RETENTION_DAYS, but never the newest one. */
export function removeOldBackups(settings: Settings, now: Date): string[] {
  const days = settings.BACKUP_RETENTION_DAYS
  const folder = folderOf(settings)
  if (days === undefined || !existsSync(folder)) return []
  const oldest = stampOf(new Date(now.getTime() - days * DAY_MS))
  const names = readdirSync(folder)
    .filter((name) => NAME.test(name))
    .sort()
  const old = names.slice(0, -1).filter((name) => (NAME.exec(name)?.[1] ?? '') < oldest)
  for (const name of old) rmSync(join(folder, name))
  return old
}

function rootKeyOf({ DATA_DIR, SVC_SECRET_KEY }: Settings): string {
  if (SVC_SECRET_KEY !== undefined) return SVC_SECRET_KEY
  try {
    return readFileSync(join(DATA_DIR, ROOT_KEY), 'utf8').trim()
  } catch {
    throw new StartupError(
      `${join(DATA_DIR, ROOT_KEY)} cannot be read; a backup without the root key is useless`,
    )
  }
}

/** Makes the rename durable: without it a power failure may lose the file name. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { prepareDataDir } from '../../src/database/data-dir.ts'
import { openDatabase, type Target } from '../../src/database/database.ts'
import { startEmbedded } from '../../src/database/embedded.ts'
import { migrate } from '../../src/database/migrate.ts'
import { search } from '../../src/features/archive/search/search.repository.ts'
import { openStorages } from '../../src/features/archive/storage/storage.ts'
import { storedAfter } from '../../src/features/archive/store/archive.repository.ts'
import { keepMail } from '../../src/features/archive/store/keep-mail.ts'
import { readArchive } from '../../src/features/archive/store/read-archive.ts'
import { uploadSpool } from '../../src/features/archive/upload/upload.ts'
import { writeDurably } from '../../src/lib/durable-file.ts'
import { MimeMessage } from '../../src/mime/message.ts'
import { startS3 } from '../../test/support/s3.ts'
import { letter, ORGANIZATION, openArchive } from '../archive/installation.ts'
import type { Row } from '../parts.ts'

const MESSAGES = 400
const LETTER_BYTES = 15_000
const AT_ONCE = 8
const SEARCHED = 100_000
const SEARCHES = 200
const KILLS = 50
const PAGE = { page: 1, perPage: 50, offset: 0 }

/** The wait of a sender, the rate beside a raw PUT loop to the same server, search, and kills. */
export default async function archive(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'mailplane-archive-'))
  const s3 = await startS3()
  prepareDataDir(folder)
  const server = await startEmbedded(folder, () => {})
  try {
    await prepare(server.target)
    const env = { DATA_DIR: folder, SVC_SECRET_KEY: 'a root key for the benchmark only', ...s3.env }
    return [
      ...(await rates(server.target, env, folder)),
      ...(await kills(server.target, env)),
      ...(await searches(server.target, env)),
    ]
  } finally {
    await server.stop()
    await s3.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function prepare(target: Target): Promise<void> {
  const database = openDatabase(target, { pool: 1, name: 'bench' })
  await migrate(database.sql)
  await database.sql`insert into organizations (id, name) values (${ORGANIZATION}, 'bench')`
  await database.sql`
    insert into domains (id, organization_id, domain, ownership_verified_at)
    values ('domain', ${ORGANIZATION}, 'bench.test', now())`
  await database.close()
}

type Env = Record<string, string>

async function rates(target: Target, env: Env, folder: string): Promise<Row[]> {
  const { core, stop } = await openArchive(target, env)
  const storages = openStorages(core)
  const letters = Array.from({ length: MESSAGES }, (_, i) => letter(i, LETTER_BYTES))
  const keeper = keepMail(core)
  const keep = (number: number, raw: Buffer) =>
    keeper.keep({
      organizationId: ORGANIZATION,
      direction: 'inbound',
      sender: `sender${number % 50}@far.test`,
      recipients: ['box@bench.test'],
      message: new MimeMessage(raw),
    })
  for (let i = 0; i < 20; i++) await keep(i, letter(1_000_000 + i, LETTER_BYTES))
  const floors = await timed(letters, (raw, i) => writeDurably(join(folder, `floor-${i}`), raw))
  const waits = await timed(letters.slice(0, MESSAGES / 2), (raw, i) => keep(i, raw))
  const storage = storages.of('s3')
  const putting = await inLanes(letters, (raw, i) => storage.put(`raw/${i}`, raw))
  const fresh = Array.from({ length: MESSAGES }, (_, i) => letter(2_000_000 + i, LETTER_BYTES))
  const upload = uploadSpool(core, storages, { uploaded: 0, failed: 0 })
  while (await upload.round(core)) {}
  const accepting = await inLanes(fresh, (raw, i) => keep(i, raw))
  const begun = performance.now()
  while (await upload.round(core)) {}
  const uploading = (MESSAGES / (performance.now() - begun)) * 1000
  storages.close()
  await stop()
  const wait = quantile(waits, 0.5)
  return [
    { what: 'write and fsync of 15 KB alone, p50', value: ms(quantile(floors, 0.5)) },
    { what: 'wait of a sender, 15 KB, p50', value: ms(wait), aim: 'under 5 ms' },
    { what: 'wait of a sender, 15 KB, p99', value: ms(quantile(waits, 0.99)) },
    { what: 'raw PUT loop, 8 at once', value: perSecond(putting) },
    { what: 'accepted by the archive, 8 at once', value: perSecond(accepting) },
    {
      what: 'accepted, of the raw PUT loop',
      value: (accepting / putting).toFixed(2),
      aim: 'at least 1',
    },
    {
      what: 'uploaded from the spool, of the raw PUT loop',
      value: `${perSecond(uploading)}, ${(uploading / putting).toFixed(2)}`,
    },
  ]
}

/** Kills a process that archives and uploads, again and again; every accepted letter must be there. */
async function kills(target: Target, env: Env): Promise<Row[]> {
  const accepted = new Set<number>()
  let first = 10_000_000
  for (let kill = 0; kill < KILLS; kill++) {
    const keeper = join(import.meta.dirname, '..', 'archive', 'keeper.ts')
    const child = spawn(process.execPath, [keeper, JSON.stringify({ target, env, first })])
    child.stderr.on('data', (bytes) => process.stderr.write(bytes))
    let text = ''
    const started = new Promise<void>((resolve) => {
      child.stdout.on('data', (bytes) => {
        text += bytes
        resolve()
      })
    })
    const ended = new Promise((resolve) => child.once('close', resolve))
    await Promise.race([started, ended])
    await sleep(Math.random() * 300)
    child.kill('SIGKILL')
    await ended
    // The last line may be cut off; its number counts only when it is complete.
    for (const line of text.split('\n').slice(0, -1)) accepted.add(Number(line))
    first += 10_000
  }
  const { core, stop } = await openArchive(target, env)
  const storages = openStorages(core)
  const upload = uploadSpool(core, storages, { uploaded: 0, failed: 0 })
  while (await upload.round(core)) {}
  const reader = readArchive(core, storages)
  const found = new Set<number>()
  let after = ''
  for (;;) {
    const rows = await storedAfter(core.db, ORGANIZATION, after, 200)
    for (const row of rows) {
      const number = /^Subject: letter (\d+)$/m.exec((await reader.read(row)).toString())?.[1]
      found.add(Number(number))
      after = row.id
    }
    if (rows.length < 200) break
  }
  storages.close()
  await stop()
  const lost = [...accepted].filter((number) => !found.has(number)).length
  return [
    {
      what: `lost of ${accepted.size} accepted over ${KILLS} kills`,
      value: String(lost),
      aim: '0',
    },
  ]
}

async function searches(target: Target, env: Env): Promise<Row[]> {
  const database = openDatabase(target, { pool: 1, name: 'bench' })
  await database.sql`
    insert into archived_messages (id, organization_id, content_hash, message_id, sender, subject,
      direction, received_at, size, stored_size, storage_type, storage_key, sealed_for, search)
    select 'row' || n, ${ORGANIZATION}, sha256(n::text::bytea), '<' || n || '@far.test>',
      'sender' || n % 500 || '@far.test', 'offer ' || n % 1000 || ' for project ' || n % 37,
      case n % 3 when 0 then 'outbound' else 'inbound' end, now() - n * interval '1 minute', 15000,
      5000, 's3', 'row' || n, '{}',
      archive_words('offer ' || n % 1000 || ' for project ' || n % 37,
        'sender' || n % 500 || '@far.test', array['box' || n % 200 || '@bench.test'])
    from generate_series(1, ${SEARCHED}::int) as n`
  await database.sql`
    insert into archived_copies (archive_id, role, address, organization_id, is_own, received_at)
    select 'row' || n, 'recipient', 'box' || n % 200 || '@bench.test', ${ORGANIZATION}, true,
      now() - n * interval '1 minute'
    from generate_series(1, ${SEARCHED}::int) as n`
  await database.sql`vacuum analyze archived_messages, archived_copies`
  await database.close()
  const { core, stop } = await openArchive(target, env)
  const kinds = [
    (i: number) => ({ q: `offer ${i % 1000}` }),
    (i: number) => ({
      q: 'project',
      direction: i % 2 ? ('inbound' as const) : ('outbound' as const),
    }),
    (i: number) => ({ sender: `sender${i % 500}@far.test` }),
    (i: number) => ({ recipient: `box${i % 200}@bench.test` }),
    (i: number) => ({ subject: `proj ${i % 37}` }),
    () => ({}),
  ]
  const times: number[] = []
  const slowest: number[] = kinds.map(() => 0)
  for (let i = 0; i < SEARCHES; i++) {
    const kind = i % kinds.length
    const begun = performance.now()
    await search(core.db, ORGANIZATION, kinds[kind]?.(i) ?? {}, PAGE)
    const took = performance.now() - begun
    times.push(took)
    slowest[kind] = Math.max(slowest[kind] ?? 0, took)
  }
  await stop()
  return [
    {
      what: `search of ${SEARCHED.toLocaleString('en')} messages with total, p95`,
      value: `${ms(quantile(times, 0.95))}, slowest by kind ${slowest.map((one) => one.toFixed(0)).join(' ')}`,
      aim: 'under 100 ms',
    },
  ]
}

async function timed<Item>(
  items: readonly Item[],
  work: (item: Item, i: number) => Promise<unknown>,
) {
  const times: number[] = []
  for (const [i, item] of items.entries()) {
    const begun = performance.now()
    await work(item, i)
    times.push(performance.now() - begun)
  }
  return times
}

/** Items a second. */
async function inLanes<Item>(
  items: readonly Item[],
  work: (item: Item, i: number) => Promise<unknown>,
) {
  const rest = items.entries()
  const begun = performance.now()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const [i, item] of rest) await work(item, i)
    }),
  )
  return (items.length / (performance.now() - begun)) * 1000
}

const quantile = (times: readonly number[], part: number) =>
  [...times].sort((one, other) => one - other)[Math.ceil(times.length * part) - 1] as number
const ms = (value: number) => `${value.toFixed(2)} ms`
const perSecond = (value: number) => `${Math.round(value)}/s`

import { sql } from 'kysely'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { type KilledArchive, startKilledArchive } from '../support/killed-archive.ts'
import { cleanUp } from '../support/process.ts'
import type { Fate } from '../support/s3.ts'
import { waitFor } from '../support/wait.ts'

afterAll(cleanUp)

/** Kills the process once the storage has met such a request with this fate. */
async function killAt(
  archive: KilledArchive,
  method: string,
  fate: Fate,
  work: () => Promise<unknown>,
) {
  let met = 0
  archive.s3.decide((asked) => {
    if (asked !== method) return undefined
    met++
    return fate
  })
  await work()
  await waitFor(() => met > 0)
  await archive.kill()
}

const deletions = async ({ db }: KilledArchive) => {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from archive_deletions`.execute(db)
  return rows[0]?.count
}

/** The storage has exactly the objects of the messages. */
async function hasNoOther(archive: KilledArchive) {
  const keys = async () => {
    const { rows } = await sql<{ storage_key: string }>`
      select storage_key from archived_messages order by storage_key`.execute(archive.db)
    return rows.map(({ storage_key }) => storage_key)
  }
  await waitFor(async () => (await deletions(archive)) === 0)
  expect([...archive.s3.objects().keys()].sort()).toEqual(await keys())
}

it('deletes the objects of deleted messages when it is killed at any step', async () => {
  const archive = await startKilledArchive({})
  onTestFinished(async () => void (await archive.stop()))
  const kept = await archive.send('kept')
  const fates: Fate[] = ['ignored', 'unanswered']
  for (const [index] of fates.entries()) await archive.send(`deleted ${index}`)
  const messages = await archive.uploaded(1 + fates.length)
  for (const [index, fate] of fates.entries()) {
    const { id = '' } = messages.find(({ subject }) => subject === `deleted ${index}`) ?? {}
    await killAt(archive, 'DELETE', fate, () => archive.delete(id))
    await archive.startAgain()
  }
  await hasNoOther(archive)
  const [left] = await archive.uploaded(1)
  expect(await archive.restored(left?.id ?? '')).toBe(kept)
})

/** Brings a job that seals the archive anew to a step. */
const STEPS: Record<string, (archive: KilledArchive) => Promise<string>> = {
  'the new object is announced and not stored': (archive) => atRequest(archive, 'PUT', 'ignored'),
  'the new object is stored and the row has the old one': (archive) =>
    atRequest(archive, 'PUT', 'unanswered'),
  async 'the row is about to be moved'(archive) {
    const before = archive.s3.objects().size
    return archive.db.transaction().execute(async (tx) => {
      await sql`lock table archived_messages in share row exclusive mode`.execute(tx)
      const job = await archive.sealAnew()
      await waitFor(() => archive.s3.objects().size > before)
      await archive.kill()
      return job
    })
  },
  'the old object is about to be deleted': (archive) => atRequest(archive, 'DELETE', 'ignored'),
}

async function atRequest(archive: KilledArchive, method: string, fate: Fate): Promise<string> {
  let job = ''
  await killAt(archive, method, fate, async () => {
    job = await archive.sealAnew()
  })
  return job
}

it.each(Object.entries(STEPS))('seals all messages anew, killed when %s', async (_, kill) => {
  const archive = await startKilledArchive({})
  onTestFinished(async () => void (await archive.stop()))
  const texts = new Map<string, string>()
  for (const subject of ['one', 'two', 'three']) texts.set(subject, await archive.send(subject))
  await archive.uploaded(texts.size)
  const id = await kill(archive)
  await archive.startAgain()
  const job = await waitFor(async () => {
    const found = await archive.job(id)
    return ['completed', 'failed'].includes(found.status) && found
  })
  expect(job).toMatchObject({ status: 'completed', done: job.total, failed: 0 })
  for (const { id, subject } of await archive.uploaded(texts.size)) {
    expect(await archive.restored(id)).toBe(texts.get(subject))
  }
  // An object that was announced before the kill is deleted an hour later.
  await sql`update archive_deletions set not_before = now()`.execute(archive.db)
  await hasNoOther(archive)
})

import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import { waitFor } from '../../test/support/wait.ts'
import { ulid } from '../lib/ulid.ts'
import { type Chore, runChores } from './chores.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())
const running: { stop(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop()
  vi.useRealTimers()
})

const start = async (
  round: Chore['round'],
  begin?: Chore['begin'],
  more: Pick<Chore, 'atOnce'> = {},
) => {
  const name = `test-${ulid()}`
  running.push(await runChores(app.core, [{ name, round, ...(begin && { begin }), ...more }]))
  return { tell: () => sql`select pg_notify('mailplane_chores', ${name})`.execute(app.core.db) }
}

it('a chore begins once, repeats while there is more work, and runs on a notification', async () => {
  // Without the regular look, only the notification can start a round.
  vi.useFakeTimers({ toFake: ['setInterval'] })
  const seen: string[] = []
  let more = 3
  const chore = await start(
    async () => {
      seen.push('round')
      return --more > 0
    },
    async () => seen.push('begin'),
  )
  await waitFor(() => seen.length === 4)
  await chore.tell()
  await waitFor(() => seen.length === 5)
  expect(seen).toEqual(['begin', 'round', 'round', 'round', 'round'])
})

it('a chore is retried after a failure in begin or a round, and never overlaps', async () => {
  let begun = 0
  let rounds = 0
  let atOnce = 0
  let most = 0
  const chore = await start(
    async () => {
      most = Math.max(most, ++atOnce)
      await new Promise((resolve) => setImmediate(resolve))
      atOnce--
      if (++rounds < 3) throw new Error('away')
      return false
    },
    async () => {
      if (++begun < 2) throw new Error('not yet')
    },
  )
  await Promise.all(Array.from({ length: 20 }, () => chore.tell()))
  await waitFor(() => rounds >= 3)
  expect(begun).toBe(2)
  expect(most).toBe(1)
})

it('stopping a chore waits for the current round and starts no other', async () => {
  let done = false
  let release = () => {}
  let entered = false
  await start(async () => {
    entered = true
    await new Promise<void>((resolve) => {
      release = resolve
    })
    done = true
    return true
  })
  await waitFor(() => entered)
  const stopping = running.splice(0)[0]?.stop()
  entered = false
  release()
  await stopping
  expect(done).toBe(true)
  expect(entered).toBe(false)
})

it('rounds of a chore that may run at once do not wait for each other, and it begins once', async () => {
  let begun = 0
  let entered = 0
  let rounds = 0
  let release = () => {}
  const chore = await start(
    async () => {
      rounds++
      if (++entered > 1) return false
      await new Promise<void>((resolve) => {
        release = resolve
      })
      return false
    },
    async () => begun++,
    { atOnce: 2 },
  )
  await waitFor(() => rounds >= 2)
  const before = rounds
  await chore.tell()
  await waitFor(() => rounds > before)
  expect(begun).toBe(1)
  release()
})

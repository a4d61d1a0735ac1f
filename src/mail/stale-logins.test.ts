import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import { endedSince } from './stale-logins.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
})
afterAll(() => app.stop())

/** Creates a credential that ended so many minutes ago; returns its login. */
async function ended(minutes: number): Promise<string> {
  const made = await acme.post('/api/v1/smtp-credentials/', {
    domain_id: acme.domainId,
    name: `${minutes} minutes`,
  })
  const { id, username } = made.body.data
  await sql`
    update smtp_credentials set expires_at = now() - make_interval(mins => ${minutes})
    where id = ${id}`.execute(app.core.db)
  return username
}
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()

it('ended logins are found however late the next look is', async () => {
  const [early, late, old] = [await ended(5), await ended(50), await ended(120)]

  const first = await endedSince(app.core.db, undefined)
  expect(new Set(first.names)).toEqual(new Set([early, late]))
  expect((await endedSince(app.core.db, first.lookedAt)).names).toEqual([])
  expect((await endedSince(app.core.db, minutesAgo(10))).names).toEqual([early])
  expect(new Set((await endedSince(app.core.db, minutesAgo(180))).names)).toEqual(
    new Set([early, late, old]),
  )
})

import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { untilBlocked } from '../../../../test/support/locks.ts'

const PATH = '/api/v1/analytics/reports/scheduled'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

it('answers a tenant while many requests of another one wait in long transactions', async () => {
  const [evil, acme] = [await app.tenant('evil'), await app.tenant('acme')]
  const schedule = ({ post, domain }: typeof acme) =>
    post(PATH, { domain, recipients: [`boss@${domain}`] })
  const { db } = app.core
  const theirs = await db.transaction().execute(async (tx) => {
    await sql`select from organizations where id = ${evil.organizationId} for update`.execute(tx)
    const waiting = Array.from({ length: 5 }, () => schedule(evil))
    await untilBlocked(db, 2)
    expect((await schedule(acme)).status).toBe(201)
    return { waiting }
  })
  const answers = await Promise.all(theirs.waiting)
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201])
})

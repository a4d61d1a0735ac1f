import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { insertMailbox } from '../../../test/support/mailboxes.ts'
import { waitFor } from '../../../test/support/wait.ts'
import { lockForwarding } from './aliases.repository.ts'

let app: App
type Tenant = Awaited<ReturnType<App['tenant']>>
let acme: Tenant
let globex: Tenant
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => app.stop())

const add = (source: string, destination: string, client: Pick<Tenant, 'post'> = acme) =>
  client.post('/api/v1/aliases/add', { source, destination })
const edit = async (item: string, attr: object, client: Pick<Tenant, 'post'> = acme) =>
  (await client.post('/api/v1/aliases/edit', { items: [item], attr })).body.data[0]
const remove = async (item: string) =>
  (await acme.post('/api/v1/aliases/delete', [item])).body.data[0]

const OUT = 'someone@elsewhere.example'
const LOOP = 'This would create a forwarding loop'

describe('a forwarding loop', () => {
  it('is rejected with its path, and nothing is stored', async () => {
    await add('a1@acme.test', 'a2@acme.test')
    await add('a2@acme.test', `${OUT},a3@acme.test`)
    const answer = await add('a3@acme.test', 'a1@acme.test')
    expect(answer).toMatchObject({
      status: 400,
      body: { msg: `${LOOP}: a3@acme.test -> a1@acme.test -> a2@acme.test -> a3@acme.test` },
    })
    expect((await acme.get('/api/v1/aliases/get/a3@acme.test')).status).toBe(404)
  })

  it('is possible while one alias is inactive, and activating that alias is rejected', async () => {
    await add('b1@acme.test', 'b2@acme.test')
    await edit('b1@acme.test', { active: 0 })
    expect((await add('b2@acme.test', 'b1@acme.test')).status).toBe(200)
    expect(await edit('b1@acme.test', { active: 1 })).toMatchObject({
      status: 'error',
      msg: `${LOOP}: b1@acme.test -> b2@acme.test -> b1@acme.test`,
    })
  })

  it("through another organization is rejected without that organization's addresses", async () => {
    await add('secret@globex.test', 'c@acme.test', globex)
    const answer = await add('c@acme.test', 'secret@globex.test')
    expect(answer).toMatchObject({ status: 400, body: { msg: LOOP } })
    const operator = await app.operator('operator')
    expect(await add('c@acme.test', 'secret@globex.test', operator)).toMatchObject({
      status: 400,
      body: { msg: `${LOOP}: c@acme.test -> secret@globex.test -> c@acme.test` },
    })
  })

  it('is detected through a +detail of the address', async () => {
    expect(await add('d@acme.test', 'd+copy@acme.test')).toMatchObject({
      status: 400,
      body: { msg: `${LOOP}: d@acme.test -> d+copy@acme.test -> d@acme.test` },
    })
  })

  it('is detected through a catch-all, unless a mailbox takes the mail', async () => {
    const initech = await app.tenant('initech')
    expect(await add('@initech.test', 'nobody@initech.test', initech)).toMatchObject({
      status: 400,
      body: { msg: `${LOOP}: @initech.test -> nobody@initech.test -> @initech.test` },
    })
    expect((await add('@initech.test', initech.email, initech)).status).toBe(200)
    expect((await add('e@initech.test', 'nobody@initech.test', initech)).status).toBe(200)
    expect(await edit('@initech.test', { destination: 'e@initech.test' }, initech)).toMatchObject({
      status: 'error',
      msg: `${LOOP}: @initech.test -> e@initech.test -> nobody@initech.test -> @initech.test`,
    })
  })

  it('cannot result from deleting or deactivating an alias that shadows a catch-all', async () => {
    await add('f@acme.test', OUT)
    expect((await add('@acme.test', 'f@acme.test')).status).toBe(200)
    const msg = `${LOOP}: f@acme.test -> @acme.test -> f@acme.test`
    expect(await remove('f@acme.test')).toEqual({ alias: 'f@acme.test', status: 'error', msg })
    expect(await edit('f@acme.test', { active: 0 })).toMatchObject({ status: 'error', msg })
    expect((await acme.get('/api/v1/aliases/get/f@acme.test')).body.data[0].active).toBe(true)
    expect(await remove('@acme.test')).toMatchObject({ status: 'success' })
    expect(await remove('f@acme.test')).toMatchObject({ status: 'success' })
  })

  it('cannot be closed by two concurrent edits', async () => {
    for (let round = 0; round < 5; round++) {
      const [one, two] = [`g${round}@acme.test`, `h${round}@globex.test`]
      await add(one, OUT)
      await add(two, OUT, globex)
      const results = await Promise.all([
        edit(one, { destination: two }),
        edit(two, { destination: one }, globex),
      ])
      expect(results.map(({ status }) => status).sort()).toEqual(['error', 'success'])
    }
  })

  it('cannot be closed by many concurrent additions', async () => {
    const size = 6
    const answers = await Promise.all(
      Array.from({ length: size }, (_, i) =>
        add(`i${i}@acme.test`, `i${(i + 1) % size}@acme.test`),
      ),
    )
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(1)
  })

  it('is not reported for a chain of too many aliases, which has its own error', async () => {
    const aliases = Array.from({ length: 31 }, (_, i) => ({
      source: `j${i}@acme.test`,
      destination: `j${i - 1}@acme.test`,
    }))
    const { data } = (await acme.post('/api/v1/aliases/add/bulk', { aliases })).body
    expect(data.summary).toEqual({ total: 31, success: 30, errors: 1 })
    expect(data.results.at(-1)).toMatchObject({
      msg: 'Alias j30@acme.test would forward through too many other aliases',
    })
  })
})

it('creates aliases to mailboxes and other hosts beside each other, and the rest one by one', async () => {
  await insertMailbox(app, acme, { email: 'jane@acme.test' })
  const unfinished = Promise.withResolvers<void>()
  const isHeld = Promise.withResolvers<void>()
  const other = app.core.db.transaction().execute(async (tx) => {
    await lockForwarding(tx, [OUT, 'jane@acme.test'])
    isHeld.resolve()
    await unfinished.promise
  })
  await isHeld.promise
  expect((await add('z1@acme.test', `${OUT},jane@acme.test`)).status).toBe(200)
  expect((await add('z1@globex.test', OUT, globex)).status).toBe(200)

  const waiting = add('z2@acme.test', 'z1@acme.test')
  await waitFor(async () => {
    const { rows } = await sql`
      select from pg_locks where locktype = 'advisory' and not granted`.execute(app.core.db)
    return rows.length > 0
  })
  unfinished.resolve()
  await other
  expect((await waiting).status).toBe(200)
})

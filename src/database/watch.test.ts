import { afterEach, beforeEach, expect, inject, it } from 'vitest'
import { startCuttingProxy } from '../../test/support/cutting-proxy.ts'
import { cloneDatabase } from '../../test/support/postgres.ts'
import { budgetOf } from './budget.ts'
import type { Client } from './client.ts'
import { connect } from './connect.ts'
import { primaryOf } from './primary.ts'
import { watchOver } from './watch.ts'

const SILENT = { code: 'DATABASE_TIMEOUT', message: 'the database stopped answering' }

let clone: Awaited<ReturnType<typeof cloneDatabase>>
let proxy: Awaited<ReturnType<typeof startCuttingProxy>>
let watch: ReturnType<typeof watchOver>
let client: Client
beforeEach(async () => {
  clone = await cloneDatabase(inject('databaseUrl'))
  proxy = await startCuttingProxy(clone.url)
  const open = primaryOf(proxy.url)
  watch = watchOver(open, { lookMs: 20, silentMs: 100 })
  client = watch.add(await open({ name: 'watched', budget: budgetOf(900) }))
})
afterEach(async () => {
  watch.stop()
  client.discard()
  await proxy.stop()
  await clone.drop()
})

const longStatement = (seconds: number) =>
  client.run((sql) => sql`select 'done' as state, pg_sleep(${seconds})`)

/** Asks the server itself, until the long statement is there. */
async function onServer(statement: string) {
  const sql = connect(clone.url, { max: 1 })
  try {
    await expect
      .poll(() =>
        sql.unsafe(`${statement} from pg_stat_activity where query like '%done%'
        and application_name = 'mailplane watched' and state = 'active'`),
      )
      .toHaveLength(1)
  } finally {
    await sql.end()
  }
}

it('lets a statement go on while the server works on it', async () => {
  expect((await longStatement(1))[0]).toMatchObject({ state: 'done' })
  expect((await longStatement(0))[0]).toMatchObject({ state: 'done' })
})

it('gives up a statement when the server neither answers nor accepts connections', async () => {
  const given = expect(longStatement(3600)).rejects.toMatchObject(SILENT)
  await onServer('select pid')
  proxy.silence({ all: true })
  await given
  expect(client.isLost).toBe(true)
})

it('gives up a statement that the server which answers now does not know', async () => {
  const given = expect(longStatement(3600)).rejects.toMatchObject(SILENT)
  await onServer('select pid')
  proxy.silence()
  await onServer('select pg_terminate_backend(pid)')
  await given
})

import { afterEach, beforeEach, expect, inject, it } from 'vitest'
import { startCuttingProxy } from '../../test/support/cutting-proxy.ts'
import { cloneDatabase } from '../../test/support/postgres.ts'
import { budgetOf } from './budget.ts'
import { connect } from './connect.ts'
import { primaryOf } from './primary.ts'

let clone: Awaited<ReturnType<typeof cloneDatabase>>
let silent: Awaited<ReturnType<typeof startCuttingProxy>>
let other: Awaited<ReturnType<typeof startCuttingProxy>>
beforeEach(async () => {
  clone = await cloneDatabase(inject('databaseUrl'))
  silent = await startCuttingProxy(clone.url)
  other = await startCuttingProxy(clone.url)
  silent.silence({ all: true })
})
afterEach(async () => {
  await silent.stop()
  await other.stop()
  await clone.drop()
})

/** A list with a silent host and another one. */
function list(): string {
  const { host } = new URL(other.url)
  return silent.url.replace(/(?<=@)[^/]+/, (first) => `${first},${host}`)
}
const opening = { name: 'list', budget: budgetOf(8) }

async function setReadOnly(isReadOnly: boolean) {
  const sql = connect(clone.url, { max: 1 })
  const name = new URL(clone.url).pathname.slice(1)
  await sql`set default_transaction_read_only = off`
  await sql.unsafe(`alter database ${name} set default_transaction_read_only = ${isReadOnly}`)
  await sql.end()
}

it('opens a connection to the next host when the first one is silent', async () => {
  const open = primaryOf(list())
  const clients = await Promise.all([open(opening), open(opening), open(opening)])
  for (const client of clients) {
    expect(await client.run((sql) => sql`select 1 as one`)).toMatchObject([{ one: 1 }])
    await client.close()
  }
})

it('finds a host that becomes the primary while the old one is silent', async () => {
  await setReadOnly(true)
  const opened = primaryOf(list())(opening)
  // The host has refused, and is asked again.
  await expect.poll(() => other.connections).toBeGreaterThan(1)
  await setReadOnly(false)
  await (await opened).close()
})

it('fails when the silent host has failed too', async () => {
  await setReadOnly(true)
  await expect(primaryOf(list())(opening)).rejects.toMatchObject({
    code: expect.stringContaining('TIMEOUT'),
  })
})

import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres, { type Sql } from 'postgres'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { OBSERVED, tablesOfOrganization } from '../../src/backup/part-tables.ts'
import { clientOf, PASSWORD } from '../support/app.ts'
import { installation } from '../support/installation.ts'
import {
  cleanUp,
  MAIN,
  run,
  type Server,
  startServer,
  temporaryFolder,
} from '../support/process.ts'
import { waitFor } from '../support/wait.ts'

const ACCOUNTS = '/api/v1/mailboxes/email-accounts'
let made: Awaited<ReturnType<typeof installation>>
let server: Server
let sql: Sql
let url: string
let file: string
let env: Record<string, string>
let acme: ReturnType<typeof clientOf>
let ada: { id: string }
const mailplane = (args: string[], more = {}) => run(args, { ...env, ...more })
const restore = (...args: string[]) => mailplane(['restore', file, '--json', ...args])

/** All rows of an organization in the tables that a restore writes. */
const rowsOf = async (organizationId: string) => {
  const all: Record<string, unknown> = {}
  for (const { name } of tablesOfOrganization) {
    const observed = `'{${[...OBSERVED]}}'::text[]`
    const rows = await sql.unsafe(`select (to_jsonb(t) - ${observed})::text as row from ${name} t`)
    const own = rows.map(({ row }) => row as string).filter((row) => row.includes(organizationId))
    all[name] = own.sort()
  }
  return all
}
const audited = () =>
  sql`select action, target_id, request_body from operator_audit where action like 'restore_%' order by id`

async function tenant(key: string, domain: string) {
  const client = clientOf(server, { 'x-api-key': key })
  const created = await client.post('/api/v1/domains/', { domain })
  expect(created.status).toBe(201)
  const account = { email: `ada@${domain}`, password: PASSWORD, domain_id: created.body.data.id }
  const mailbox = await client.post(ACCOUNTS, account)
  expect(mailbox.status).toBe(201)
  return { client, mailbox: mailbox.body.data as { id: string } }
}

beforeAll(async () => {
  made = await installation()
  server = await startServer({ ...made, env: { SVC_DOMAIN_OWNERSHIP: 'off' } })
  url = (await run(['db', 'url'], { DATA_DIR: made.dataDir })).stdout.trim()
  sql = postgres(url, { max: 1 })
  env = { DATA_DIR: made.dataDir, BACKUP_PASSPHRASE: 'a passphrase to remember' }
  file = join(temporaryFolder(), 'one.backup')
  const own = await tenant(made.apiKey, 'restored.test')
  acme = own.client
  ada = own.mailbox
  await sql`insert into organizations (id, name) values ('globex', 'Globex')`
  const keys = ['keys', 'create', '--organization', 'globex', '--name', 'Key', '--admin', '--json']
  const { api_key } = JSON.parse((await run(keys, { DATA_DIR: made.dataDir })).stdout)
  await tenant(api_key, 'globex.test')
  await sql`
    insert into app_passwords (id, organization_id, email_account_id, name, scopes, password_hash)
    values ('of-ada', ${made.organizationId}, ${ada.id}, 'Phone', array['imap'], 'hash of a password')`
  await sql`
    insert into dav_collections (id, organization_id, account_id, kind, uri, seq, object_count, bytes)
    values ('of-ada', ${made.organizationId}, ${ada.id}, 'calendar', 'home', 7, 1, 4)`
  await sql`
    insert into dav_objects (collection_id, uri, etag, data, size, uid, seq)
    values ('of-ada', 'lunch.ics', 'e', 'text', 4, 'lunch', 7)`
  await sql`
    insert into jmap_accounts (id, organization_id, email_account_id, state, forgotten, vacation_html)
    values (${ada.id}, ${made.organizationId}, ${ada.id}, 70, 60, '<p>away</p>')`
  await sql`
    insert into jmap_identities (id, account_id, email, text_signature, may_delete)
    values ('of-ada', ${ada.id}, 'ada@restored.test', 'Ada of Restored', false)`
  expect((await mailplane(['backup', '--out', file])).code).toBe(0)
})
afterAll(async () => {
  await sql.end()
  await server.stop()
  await cleanUp()
})

it('restores a deleted mailbox with its id and its logins, after a dry run that writes nothing', async () => {
  const [before, neighbour] = [await rowsOf(made.organizationId), await rowsOf('globex')]
  expect((await acme.delete(`${ACCOUNTS}/${ada.id}`)).status).toBeLessThan(300)
  expect(await sql`select from deleted_mailboxes where id = ${ada.id}`).toHaveLength(1)
  const without = await rowsOf(made.organizationId)

  const mailbox = ['--mailbox', 'ada@restored.test']
  const dry = await restore(...mailbox, '--dry-run')
  expect(dry).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(dry.stdout)).toMatchObject({ restored: false })
  expect(JSON.parse(dry.stdout).tables).toContainEqual({
    table: 'email_accounts',
    in_backup: 1,
    inserted: 1,
    changed: 0,
  })
  expect(await rowsOf(made.organizationId)).toEqual(without)

  const restored = await restore(...mailbox, '--reason', 'deleted by mistake')
  expect(restored).toMatchObject({ code: 0, stderr: '' })
  expect(await rowsOf(made.organizationId)).toEqual(before)
  expect(await rowsOf('globex')).toEqual(neighbour)
  // No sync token of the time before fits.
  const [home] = await sql`select * from dav_collections where id = 'of-ada'`
  expect(home).toMatchObject({ object_count: 1, bytes: '4', forgotten_seq: home?.seq })
  expect(Number(home?.seq)).toBeGreaterThan(7)
  // No state of JMAP of the time before fits either, and the signature is back.
  const [account] = await sql`select * from jmap_accounts where id = ${ada.id}`
  expect(account).toMatchObject({ vacation_html: '<p>away</p>', forgotten: account?.state })
  expect(Number(account?.state)).toBeGreaterThan(70)
  const identities = () =>
    sql`select id, text_signature from jmap_identities where account_id = ${ada.id}`
  expect(await identities()).toEqual([{ id: 'of-ada', text_signature: 'Ada of Restored' }])
  // Its mail is still on disk under its id, and no job removes it now.
  expect(await sql`select from deleted_mailboxes where id = ${ada.id}`).toHaveLength(0)
  expect(await acme.get(`${ACCOUNTS}/${ada.id}`)).toMatchObject({ status: 200 })
  expect((await audited()).at(-1)).toMatchObject({
    action: 'restore_mailbox',
    target_id: 'ada@restored.test',
    request_body: { reason: 'deleted by mistake' },
  })

  // An identity that was made anew for the same address stays.
  await sql`update jmap_identities set id = 'made-anew' where id = 'of-ada'`
  const again = await restore(...mailbox, '--reason', 'once more')
  expect(await identities()).toMatchObject([{ id: 'made-anew' }])
  await sql`update jmap_identities set id = 'of-ada'`
  expect(JSON.parse(again.stdout).tables[0]).toMatchObject({ inserted: 0, changed: 0 })
})

it('leaves changed rows as they are, and replaces them when it is told so', async () => {
  await sql`update email_accounts set name = 'Changed' where id = ${ada.id}`
  const args = ['--mailbox', 'ada@restored.test', '--reason', 'wrong name']
  const kept = JSON.parse((await restore(...args)).stdout)
  expect(kept.tables[0]).toMatchObject({ inserted: 0, changed: 1 })
  const name = async () =>
    (await sql`select name from email_accounts where id = ${ada.id}`)[0]?.name
  expect(await name()).toBe('Changed')
  await restore(...args, '--replace')
  expect(await name()).not.toBe('Changed')
})

it('is refused with the reason when the address is in use again, and writes nothing', async () => {
  const [row] = await sql`select domain_id from email_accounts where id = ${ada.id}`
  expect((await acme.delete(`${ACCOUNTS}/${ada.id}`)).status).toBeLessThan(300)
  const account = { email: 'ada@restored.test', password: PASSWORD, domain_id: row?.domain_id }
  const other = await acme.post(ACCOUNTS, account)
  expect(other.status).toBe(201)
  const before = await rowsOf(made.organizationId)
  const refused = await restore('--mailbox', 'ada@restored.test', '--reason', 'conflict')
  expect(refused.code).toBe(1)
  expect(refused.stderr).toMatch(/nothing was restored: email_accounts: .*ada@restored\.test/)
  expect(await rowsOf(made.organizationId)).toEqual(before)
  await acme.delete(`${ACCOUNTS}/${other.body.data.id}`)
})

it('restores a whole organization; killed in the middle it has written nothing', async () => {
  await restore('--mailbox', 'ada@restored.test', '--reason', 'back')
  const [before, neighbour] = [await rowsOf(made.organizationId), await rowsOf('globex')]
  for (const { name } of [...tablesOfOrganization].reverse()) {
    const [column] = await sql`
      select from information_schema.columns
      where table_name = ${name} and column_name = 'organization_id'`
    if (column) await sql`delete from ${sql(name)} where organization_id = ${made.organizationId}`
  }
  await sql`delete from organizations where id = ${made.organizationId}`
  expect(await acme.get('/api/v1/domains/')).toMatchObject({ status: 401 })

  const blocker = postgres(url, { max: 1 })
  let release = () => {}
  let isLocked = false
  const locking = blocker.begin(async (tx) => {
    await tx`lock table email_accounts in share mode`
    isLocked = true
    await new Promise<void>((resolve) => {
      release = resolve
    })
  })
  await waitFor(() => isLocked)
  const args = ['restore', file, '--organization', made.organizationId, '--reason', 'gone']
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: 'ignore',
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  await waitFor(async () => {
    const waiting = await sql`
      select from pg_stat_activity where wait_event_type = 'Lock'
        and application_name = 'mailplane command line'`
    return waiting.length > 0
  })
  child.kill('SIGKILL')
  await ended
  release()
  await locking
  await blocker.end()
  expect(await sql`select from organizations where id = ${made.organizationId}`).toHaveLength(0)

  const restored = await waitFor(async () => {
    const result = await restore('--organization', made.organizationId, '--reason', 'gone')
    return result.code === 0 ? result : undefined
  })
  expect(JSON.parse(restored.stdout)).toMatchObject({ restored: true })
  expect(await rowsOf(made.organizationId)).toEqual(before)
  expect(await rowsOf('globex')).toEqual(neighbour)
  expect(await acme.get('/api/v1/domains/')).toMatchObject({ status: 200 })
  const login = await server.send('POST', '/api/v1/auth/login', {
    body: { email: 'admin@acme.test', password: PASSWORD },
  })
  expect(login.status).toBe(200)
})

it('refuses what the backup does not have, a missing reason, and a backup of another root key', async () => {
  const unknown = await restore('--mailbox', 'nobody@restored.test', '--reason', 'x')
  expect(unknown).toMatchObject({ code: 1 })
  expect(unknown.stderr).toContain('has no mailbox nobody@restored.test')
  expect(await restore('--organization', 'globex')).toMatchObject({ code: 2 })
  const other = await installation()
  writeFileSync(join(other.dataDir, 'secret-key'), 'y'.repeat(43), { mode: 0o600 })
  const refused = await mailplane(['restore', file, '--organization', 'globex', '--reason', 'x'], {
    DATA_DIR: other.dataDir,
  })
  expect(refused).toMatchObject({ code: 1 })
  expect(refused.stderr).toContain('another root key')
})

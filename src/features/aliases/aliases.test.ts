import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aliases } from '../../../test/support/aliases.ts'
import { type App, startApp } from '../../../test/support/app.ts'
import { ulid } from '../../lib/ulid.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => app.stop())

const { add, created, eventsAbout, fresh, get, stored } = aliases(
  () => app,
  () => acme,
)

describe('adding an alias', () => {
  it.each([
    [{ destination: 'b@x.example' }, 'Missing required field: source'],
    [{ source: null, destination: 'b@x.example' }, 'Missing required field: source'],
    [{ source: 'info@acme.test' }, 'Missing required field: destination'],
    [{ source: 7, destination: 'b@x.example' }, 'Invalid source address format'],
    [{ source: '', destination: 'b@x.example' }, 'Invalid source address format'],
    [{ source: 'info', destination: 'b@x.example' }, 'Invalid source address format'],
    [{ source: '**@acme.test', destination: 'b@x.example' }, 'Invalid source address format'],
    [{ source: 'in\nfo@acme.test', destination: 'b@x.example' }, 'Invalid source address format'],
    [{ source: '@acme.test\n', destination: 'b@x.example' }, 'Invalid source address format'],
    [
      { source: `${'x'.repeat(65)}@acme.test`, destination: 'b@x.example' },
      'Invalid source address format',
    ],
    [{ source: 'info@acme.test', destination: '' }, 'Email list cannot be empty'],
    [{ source: 'info@acme.test', destination: ' , ' }, 'Email list cannot be empty'],
    [{ source: 'info@acme.test', destination: 'b@x.example,c' }, 'Invalid email format: c'],
    [
      { source: 'info@acme.test', destination: 'b@x.example,,c@x.example' },
      'Invalid email format: empty entry',
    ],
    [{ source: 'info@acme.test', destination: '@x.example' }, 'Invalid email format: @x.example'],
    [
      { source: 'info@acme.test', destination: 'b@x.example\n' },
      'Invalid email format: b@x.example',
    ],
    [
      { source: 'info@acme.test', destination: 'b@x.example,\u2028c@x.example' },
      'Invalid email format: c@x.example',
    ],
    [
      { source: 'info@acme.test', destination: '<script>@x.example' },
      'Invalid email format: <script>@x.example',
    ],
    [
      { source: 'info@acme.test', destination: ['b@x.example'] },
      'destination must be a comma-separated string',
    ],
    [
      {
        source: 'info@acme.test',
        destination: Array.from({ length: 101 }, (_, i) => `b${i}@x.example`).join(),
      },
      'An alias has at most 100 destinations',
    ],
    [
      { source: 'info@acme.test', destination: `${' '.repeat(40_000)}b@x.example` },
      'An alias has at most 100 destinations',
    ],
    [
      { source: 'info@acme.test', destination: 'b@x.example', active: 'yes' },
      'active must be 1 or 0',
    ],
    [{ source: 'info@acme.test', destination: 'b@x.example', active: 2 }, 'active must be 1 or 0'],
    [
      { source: 'info@nowhere.test', destination: 'b@x.example' },
      'Domain nowhere.test not found or inactive',
    ],
  ])('rejects %j', async (body, msg) => {
    expect(await add(body)).toMatchObject({ status: 400, body: { type: 'error', msg } })
    expect(await stored('info@acme.test')).toBeUndefined()
  })

  it('rejects an empty body', async () => {
    expect(await add({})).toMatchObject({ status: 400, body: { msg: 'No data provided' } })
  })

  it("rejects another organization's domain like an unknown one", async () => {
    const answer = await add({ source: 'spy@globex.test', destination: 'b@x.example' })
    expect(answer).toMatchObject({
      status: 400,
      body: { msg: 'Domain globex.test not found or inactive' },
    })
    expect(await stored('spy@globex.test')).toBeUndefined()
  })

  it('rejects an inactive domain', async () => {
    const other = await app.tenant('dormant')
    await app.core.db
      .updateTable('domains')
      .set({ active: false })
      .where('id', '=', other.domainId)
      .execute()
    expect(
      await add({ source: 'info@dormant.test', destination: 'b@x.example' }, other),
    ).toMatchObject({ status: 400, body: { msg: 'Domain dormant.test not found or inactive' } })
  })

  it('rejects a source that is an alias, a mailbox, a shared mailbox or an SMTP login', async () => {
    const { source } = await created()
    const { organizationId: organization_id, domainId: domain_id } = acme
    await app.core.db
      .insertInto('shared_mailboxes')
      .values({ id: ulid(), organization_id, domain_id, email: 'team@acme.test', name: 'Team' })
      .execute()
    await app.core.db
      .insertInto('smtp_credentials')
      .values({
        id: ulid(),
        organization_id,
        domain_id,
        username: 'app@acme.test',
        secret_hash: '',
      })
      .execute()
    const destination = 'b@x.example'
    expect(await add({ source: source.toUpperCase(), destination })).toMatchObject({
      status: 409,
      body: { msg: `Alias ${source} already exists`, error_code: 'ALIAS_ALREADY_EXISTS' },
    })
    for (const [address, by, error_code] of [
      [acme.email, 'a mailbox', 'MAILBOX_ALREADY_EXISTS'],
      ['team@acme.test', 'a shared mailbox', 'MAILBOX_ALREADY_EXISTS'],
      ['app@acme.test', 'an SMTP login', 'ADDRESS_IN_USE'],
    ]) {
      expect(await add({ source: address, destination })).toMatchObject({
        status: 409,
        body: { msg: `Address ${address} is already used by ${by}`, error_code },
      })
    }
  })

  it('stores the text of the destination and the addresses in it', async () => {
    const source = fresh()
    const destination = 'Jane@Elsewhere.example, info@bücher.example,jane@elsewhere.example'
    const answer = await add({ source: ` ${source.toUpperCase()} `, destination, active: 0 })
    expect(answer).toMatchObject({
      status: 200,
      body: { msg: `Alias ${source} created successfully`, data: { source } },
    })
    const [alias] = (await get(answer.body.data.alias_id)).body.data
    expect(alias).toEqual({
      id: answer.body.data.alias_id,
      source,
      destination,
      destinations: ['jane@elsewhere.example', 'info@xn--bcher-kva.example'],
      destination_count: 2,
      domain_id: acme.domainId,
      organization_id: acme.organizationId,
      domain_description: null,
      active: false,
      monthly_forwards: 0,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    expect(await eventsAbout(alias.id)).toMatchObject([
      {
        event: 'alias.created',
        source: 'api',
        org_id: acme.organizationId,
        domain: 'acme.test',
        data: { source, destination, domain: 'acme.test' },
      },
    ])
  })

  it('accepts a catch-all in either spelling, but only one per domain', async () => {
    const initech = await app.tenant('initech')
    const destination = 'rest@elsewhere.example'
    const answer = await add({ source: '*@Initech.test', destination, active: true }, initech)
    expect(answer.body.data.source).toBe('@initech.test')
    expect(await add({ source: '@initech.test', destination }, initech)).toMatchObject({
      status: 409,
      body: { msg: 'Alias @initech.test already exists' },
    })
    for (const name of ['@initech.test', '*@initech.test']) {
      expect((await get(name, initech)).body.data).toMatchObject([
        { source: '@initech.test', monthly_forwards: null },
      ])
    }
  })

  it('creates one alias for two concurrent requests with the same source', async () => {
    const source = fresh()
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => add({ source, destination: 'b@x.example' })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409])
  })

  it('rejects a read-only key', async () => {
    const reader = await app.key(acme.organizationId, { permissions: { read_only: true } })
    for (const path of ['add', 'add/bulk', 'edit', 'delete']) {
      expect(await reader.post(`/api/v1/aliases/${path}`, {})).toMatchObject({ status: 403 })
    }
    expect((await get('all', reader)).status).toBe(200)
  })

  it('lets a platform key add an alias for the organization of the domain', async () => {
    const operator = await app.operator('operator')
    const source = fresh('globex.test')
    const answer = await add(
      { source, destination: 'b@x.example', organization_id: acme.organizationId },
      operator,
    )
    expect(answer.status).toBe(200)
    expect(await stored(source)).toMatchObject({ organization_id: globex.organizationId })
    const support = await app.operator('support')
    expect((await add({ source: fresh(), destination: 'b@x.example' }, support)).status).toBe(403)
  })
})

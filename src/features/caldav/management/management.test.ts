import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { card, startDav } from '../../../../test/support/dav.ts'

let dav: Awaited<ReturnType<typeof startDav>>
let acme: Awaited<ReturnType<typeof dav.app.tenant>>
let globex: Awaited<ReturnType<typeof dav.app.tenant>>
beforeAll(async () => {
  dav = await startDav({ CALDAV_MAX_COLLECTIONS: '4' })
  acme = await dav.app.tenant('acme')
  globex = await dav.app.tenant('globex')
})
afterAll(() => dav.stop())

const at = (area: string, email: string) => `/api/v1/caldav/${area}/${email}`

describe('calendars and address books', () => {
  it('are created, listed and found by programs', async () => {
    expect((await acme.get(at('calendars', acme.email))).body.data.items).toEqual([])
    const usual = await acme.post(at('calendars', acme.email), {})
    expect(usual.status).toBe(201)
    expect(usual.body.data.items).toMatchObject([{ name: 'Calendar' }, { name: 'Tasks' }])
    const more = await acme.post(at('calendars', acme.email), { name: 'Büro & <mehr>' })
    const created = more.body.data.items.at(-1)
    expect(created).toMatchObject({ name: 'Büro & <mehr>', object_count: 0, bytes: 0 })
    const seen = await dav.client(acme.email).propfind(created.path, '<D:displayname/>')
    expect(seen.text).toContain('<D:displayname>Büro &amp; &lt;mehr&gt;</D:displayname>')
    const books = await acme.get(at('addressbooks', acme.email.toUpperCase()))
    expect(books.body.data.items).toMatchObject([{ name: 'Contacts', components: [] }])
    const full = await acme.post(at('addressbooks', acme.email), { name: 'One too many' })
    expect(full).toMatchObject({ status: 409, body: { error_code: 'CALENDARS_FULL' } })
  })

  it('of another tenant are 404', async () => {
    for (const area of ['calendars', 'addressbooks', 'contacts']) {
      expect((await acme.get(at(area, globex.email))).status).toBe(404)
      expect((await acme.post(at(area, globex.email), { name: 'x' })).status).toBe(404)
    }
    expect((await acme.post(at('contacts/sync', globex.email))).status).toBe(404)
  })

  it('need write access to be created', async () => {
    const reader = await dav.app.key(acme.organizationId, { permissions: { read_only: true } })
    expect((await reader.get(at('calendars', acme.email))).status).toBe(200)
    expect((await reader.post(at('calendars', acme.email), {})).status).toBe(403)
  })
})

describe('contacts', () => {
  it('are created by fields or as a vCard, and listed', async () => {
    const fields = {
      name: 'Jane, Doe',
      email_addresses: ['jane@example.test'],
      phone_numbers: ['+49 1'],
    }
    expect((await globex.post(at('contacts', globex.email), fields)).status).toBe(201)
    const vcard = card('own-uid', 'John', 'EMAIL:john@example.test')
    const created = await globex.post(at('contacts', globex.email), { vcard })
    expect(created).toMatchObject({ status: 201, body: { data: { uid: 'own-uid' } } })
    const again = await globex.post(at('contacts', globex.email), { vcard })
    expect(again).toMatchObject({ status: 409, body: { error_code: 'CONTACT_EXISTS' } })
    const { items, pagination } = (await globex.get(at('contacts', globex.email))).body.data
    expect(pagination.total).toBe(2)
    const named = Object.fromEntries(items.map((one: { name: string }) => [one.name, one]))
    expect(named['Jane, Doe']).toMatchObject(fields)
    expect(named.John).toMatchObject({ uid: 'own-uid', email_addresses: ['john@example.test'] })
    const path = `/dav/addressbooks/${globex.accountId}/contacts/${created.body.data.id}`
    expect((await dav.client(globex.email).get(path)).text).toBe(vcard)
  })

  it.each([
    {},
    { vcard: 'hello' },
    { vcard: card('bell', 'Bell\x07') },
    { vcard: card('bell', 'Bell', 'NOTE:a\uffffb') },
  ])('that cannot be stored are 422: %j', async (body) => {
    const answer = await globex.post(at('contacts', globex.email), body)
    expect(answer).toMatchObject({ status: 422, body: { error_code: 'UNUSABLE_CONTACT' } })
  })

  it('are built from the people that the mailbox has written to, deleted ones not again', async () => {
    const log = (recipient: string) => ({
      id: `${recipient}-id`,
      status: 'sent' as const,
      sender: globex.email,
      recipient,
      organization_id: globex.organizationId,
      timestamp: dav.app.clock.now().toISOString(),
    })
    await dav.app.core.db
      .insertInto('mail_log')
      .values([
        log('Ann@example.test'),
        log('bob@example.test'),
        // Mail of another mailbox with this sender does not count.
        { ...log('eve@example.test'), organization_id: acme.organizationId },
      ])
      .execute()
    const path = at('contacts/sync', globex.email)
    expect((await globex.post(path)).body.data).toEqual({ added: 2, correspondents: 2 })
    expect((await globex.post(path)).body.data).toEqual({ added: 0, correspondents: 2 })
    const { items } = (await globex.get(at('contacts', globex.email))).body.data
    const ann = items.find(({ uid }: { uid: string }) => uid === 'ann@example.test')
    const program = dav.client(globex.email)
    await program.delete(`/dav/addressbooks/${globex.accountId}/collected/${ann.id}`)
    expect((await globex.post(path)).body.data).toEqual({ added: 0, correspondents: 2 })
  })
})

describe('a mailbox without room', () => {
  const MB = 1024 * 1024
  const logged = (tenant: typeof acme, recipient: string) => ({
    id: `${tenant.organizationId}-${recipient}`,
    status: 'sent' as const,
    sender: tenant.email,
    recipient,
    organization_id: tenant.organizationId,
    timestamp: dav.app.clock.now().toISOString(),
  })

  it.each([
    ['objects', { CALDAV_MAX_OBJECTS: '3' }, 3],
    ['bytes', { CALDAV_QUOTA_MB: '1' }, 1],
  ])('has as many new contacts as its %s allow, then none', async (limit, env, room) => {
    const small = await startDav(env)
    const tenant = await small.app.tenant('small')
    const recipients = Array.from({ length: 20 }, (_none, at) => `friend-${at}@example.test`)
    const rows = recipients.map((recipient) => logged(tenant, recipient))
    await small.app.core.db.insertInto('mail_log').values(rows).execute()
    if (limit === 'bytes') {
      const note = `NOTE:${'x'.repeat(MB - 400)}`
      const large = `/dav/addressbooks/${tenant.accountId}/contacts/large.vcf`
      const stored = await small.client(tenant.email).put(large, card('large', 'Large', note))
      expect(stored.status).toBe(201)
    }
    const first = await tenant.post(at('contacts/sync', tenant.email))
    expect(first.body.data).toEqual({ added: room, correspondents: 20 })
    for (const again of [
      await tenant.post(at('contacts/sync', tenant.email)),
      await tenant.post(at('contacts', tenant.email), { name: 'One more '.repeat(25) }),
    ]) {
      expect(again).toMatchObject({ status: 409, body: { error_code: 'CALENDARS_FULL' } })
    }
    const { bytes } = await small.app.core.db
      .selectFrom('dav_collections')
      .select((eb) => eb.fn.sum<string>('bytes').as('bytes'))
      .executeTakeFirstOrThrow()
    expect(Number(bytes)).toBeLessThanOrEqual(MB)
    await small.stop()
  })
})

it('says where programs find calendars', async () => {
  const { body } = await acme.get('/api/v1/caldav/discovery')
  expect(body.data.caldav_url).toMatch(/\/dav\/$/)
})

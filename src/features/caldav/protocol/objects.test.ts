import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { card, type DavClient, event, hrefsIn, startDav } from '../../../../test/support/dav.ts'

let dav: Awaited<ReturnType<typeof startDav>>
let acme: Awaited<ReturnType<typeof dav.app.tenant>>
let me: DavClient
let home: string
let books: string
beforeAll(async () => {
  dav = await startDav({ CALDAV_MAX_COLLECTIONS: '6' })
  acme = await dav.app.tenant('acme')
  me = dav.client(acme.email)
  home = `/dav/calendars/${acme.accountId}/`
  books = `/dav/addressbooks/${acme.accountId}/`
})
afterAll(() => dav.stop())

const NOON = '20260105T120000Z'

describe('discovery', () => {
  it('leads from the host to the calendars and address books', async () => {
    for (const name of ['caldav', 'carddav']) {
      const answer = await dav.app.send('PROPFIND', `/.well-known/${name}`)
      expect(answer).toMatchObject({ status: 301, headers: { location: '/dav/' } })
    }
    const root = await me.propfind('/dav/', '<D:current-user-principal/>')
    expect(root.text).toContain(`<D:href>/dav/principals/${acme.accountId}/</D:href>`)
    const sets = '<C:calendar-home-set/><A:addressbook-home-set/><C:calendar-user-address-set/>'
    const principal = await me.propfind(`/dav/principals/${acme.accountId}/`, sets)
    for (const found of [home, books, `mailto:${acme.email}`]) {
      expect(principal.text).toContain(`<D:href>${found}</D:href>`)
    }
    const calendars = await me.propfind(home, '<D:displayname/>', '1')
    expect(hrefsIn(calendars.text)).toEqual([home, `${home}calendar/`, `${home}tasks/`])
    expect(calendars.text).toContain('<D:displayname>Calendar</D:displayname>')
    const contacts = await me.propfind(books, '<D:displayname/>', '1')
    expect(hrefsIn(contacts.text)).toEqual([books, `${books}contacts/`, `${books}domain/`])
  })

  it('announces what the server does, with scheduling', async () => {
    const { status, headers } = await dav.app.send('OPTIONS', '/dav/')
    expect(status).toBe(200)
    expect(headers.dav).toContain('calendar-access')
    expect(headers.dav).toContain('calendar-auto-schedule')
    expect(headers.allow).toContain('REPORT')
  })

  it('refuses a listing of everything below with 403', async () => {
    const answer = await me.send('PROPFIND', home)
    expect(answer.status).toBe(403)
    expect(answer.text).toContain('<D:propfind-finite-depth/>')
  })
})

describe('an object', () => {
  it('comes back byte for byte, with its entity tag', async () => {
    const text = event('bytes', NOON, 'SUMMARY:Käse & <b>', 'X-ODD;A="b:c":d\r\n e')
    const path = `${home}calendar/bytes%20and%20more.ics`
    const put = await me.put(path, text)
    expect(put).toMatchObject({ status: 201 })
    const read = await me.get(path)
    expect(read).toMatchObject({ status: 200, text, headers: { etag: put.headers.etag } })
    expect(await me.send('HEAD', path)).toMatchObject({
      status: 200,
      text: '',
      headers: { 'content-length': String(Buffer.byteLength(text)) },
    })
    expect(await me.get(path, { 'if-none-match': put.headers.etag })).toMatchObject({ status: 304 })
  })

  it('changes only under the conditions of the request', async () => {
    const path = `${home}calendar/conditions.ics`
    const first = await me.put(path, event('conditions', NOON), { 'if-none-match': '*' })
    expect(first.status).toBe(201)
    const again = await me.put(path, event('conditions', NOON), { 'if-none-match': '*' })
    expect(again.status).toBe(412)
    const etag = first.headers.etag as string
    const changed = await me.put(path, event('conditions', NOON, 'SUMMARY:2'), { 'if-match': etag })
    expect(changed.status).toBe(204)
    expect((await me.put(path, event('conditions', NOON), { 'if-match': etag })).status).toBe(412)
    expect((await me.delete(path, { 'if-match': etag })).status).toBe(412)
    expect((await me.delete(path)).status).toBe(204)
    expect((await me.get(path)).status).toBe(404)
  })

  it('of simultaneous creations is stored once', async () => {
    const path = `${home}calendar/race.ics`
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        me.put(path, event('race', NOON, `SUMMARY:${index}`), { 'if-none-match': '*' }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(412)])
  })

  it.each([
    ['no calendar at all', 'hello', 'C:valid-calendar-data'],
    [
      'two events',
      event('a', NOON).replace(/END:VCALENDAR\r\n/, '') + event('b', NOON).slice(57),
      '',
    ],
    [
      'a METHOD',
      event('m', NOON).replace('PRODID', 'METHOD:REQUEST\r\nPRODID'),
      'C:valid-calendar-object-resource',
    ],
    ['no UID', event('u', NOON).replace('UID:u\r\n', ''), 'C:valid-calendar-object-resource'],
    ['a control character', event('c', NOON, 'SUMMARY:a\x0bb'), 'C:valid-calendar-data'],
    ['no start', event('e', NOON).replace(`DTSTART:${NOON}\r\n`, ''), 'C:valid-calendar-data'],
    [
      'an instance every second without end',
      event('s', NOON, 'RRULE:FREQ=SECONDLY'),
      'C:supported-calendar-data',
    ],
    [
      'an instance every minute without end',
      event('s', NOON, 'RRULE:FREQ=MINUTELY'),
      'C:supported-calendar-data',
    ],
  ])('with %s is refused with 403', async (_what, text, condition) => {
    const answer = await me.put(`${home}calendar/refused.ics`, text)
    expect(answer.status).toBe(403)
    expect(answer.text).toContain(condition)
    expect((await me.get(`${home}calendar/refused.ics`)).status).toBe(404)
  })

  it('above 5 MB is refused with 403', async () => {
    const large = event('large', NOON, `DESCRIPTION:${'x'.repeat(5 * 1024 * 1024)}`)
    const answer = await me.put(`${home}calendar/large.ics`, large)
    expect(answer.status).toBe(403)
    expect(answer.text).toContain('<C:max-resource-size/>')
  })

  it('with the UID of another one is refused, and the answer names that one', async () => {
    await me.put(`${home}calendar/uid1.ics`, event('same', NOON))
    const answer = await me.put(`${home}calendar/uid2.ics`, event('same', NOON))
    expect(answer.status).toBe(403)
    expect(answer.text).toContain(
      `<C:no-uid-conflict><D:href>${home}calendar/uid1.ics</D:href></C:no-uid-conflict>`,
    )
  })

  it.each(['COPY', 'MOVE'])('with another UID is not replaced by %s', async (method) => {
    const [from, to] = [`${home}calendar/${method}1.ics`, `${home}calendar/${method}2.ics`]
    await me.put(from, event(`${method}1`, NOON))
    await me.put(to, event(`${method}2`, NOON))
    const answer = await me.send(method, from, { headers: { destination: to, overwrite: 'T' } })
    expect(answer.status).toBe(403)
    expect(answer.text).toContain('<C:no-uid-conflict>')
    expect((await me.get(from)).text).toContain(`UID:${method}1`)
    expect((await me.get(to)).text).toContain(`UID:${method}2`)
  })

  it('of a kind that the collection does not take is refused', async () => {
    const answer = await me.put(`${home}tasks/event.ics`, event('task', NOON))
    expect(answer.status).toBe(403)
    expect(answer.text).toContain('<C:supported-calendar-component/>')
    const wrong = await me.put(`${home}calendar/card.vcf`, card('c', 'C'), {
      'content-type': 'text/vcard',
    })
    expect(wrong.text).toContain('<C:supported-calendar-data/>')
  })

  it('is copied and moved within the home, also between collections', async () => {
    const make = `<C:mkcalendar xmlns:C="urn:ietf:params:xml:ns:caldav"/>`
    expect((await me.send('MKCALENDAR', `${home}other/`, { body: make })).status).toBe(201)
    const text = event('moving', NOON)
    await me.put(`${home}calendar/moving.ics`, text)
    const to = (path: string) => ({ headers: { destination: `${dav.app.base}${path}` } })
    const copied = await me.send('COPY', `${home}calendar/moving.ics`, to(`${home}other/copy.ics`))
    expect(copied.status).toBe(201)
    await me.delete(`${home}other/copy.ics`)
    const moved = await me.send('MOVE', `${home}calendar/moving.ics`, to(`${home}other/moved.ics`))
    expect(moved.status).toBe(201)
    expect((await me.get(`${home}calendar/moving.ics`)).status).toBe(404)
    expect((await me.get(`${home}other/moved.ics`)).text).toBe(text)
    const away = await me.send('MOVE', `${home}other/moved.ics`, {
      headers: { destination: `http://elsewhere.test${home}other/x.ics` },
    })
    expect(away.status).toBe(502)
    expect((await me.delete(`${home}other/`)).status).toBe(204)
    expect((await me.get(`${home}other/moved.ics`)).status).toBe(404)
  })
})

describe('a contact', () => {
  it.each([
    ['of version 2.1', card('old', 'Old').replace('3.0', '2.1'), 'A:supported-address-data'],
    ['with a control character', card('bell', 'Bell\x07'), 'A:valid-address-data'],
    ['with a character that XML lacks', card('bell', 'Bell\uffff'), 'A:valid-address-data'],
  ])('%s is refused with 403', async (_what, text, condition) => {
    const path = `${home.replace('calendars', 'addressbooks')}contacts/refused.vcf`
    const answer = await me.put(path, text)
    expect(answer.status).toBe(403)
    expect(answer.text).toContain(`<${condition}/>`)
    expect((await me.get(path)).status).toBe(404)
  })
})

describe('a collection', () => {
  it('is created with its properties, keeps those of programs and refuses those of the server', async () => {
    const properties =
      '<D:displayname>Work &amp; more</D:displayname><I:calendar-color xmlns:I="http://apple.com/ns/ical/">#ff0000</I:calendar-color>' +
      '<C:supported-calendar-component-set><C:comp name="VEVENT"/></C:supported-calendar-component-set>'
    const body = `<C:mkcalendar xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:set><D:prop>${properties}</D:prop></D:set></C:mkcalendar>`
    expect((await me.send('MKCALENDAR', `${home}work/`, { body })).status).toBe(201)
    expect((await me.send('MKCALENDAR', `${home}work/`, { body })).status).toBe(403)
    const names =
      '<D:displayname/><C:supported-calendar-component-set/><I:calendar-color xmlns:I="http://apple.com/ns/ical/"/>'
    const { text } = await me.propfind(`${home}work/`, names)
    expect(text).toContain('<D:displayname>Work &amp; more</D:displayname>')
    expect(text).toContain('<I:calendar-color>#ff0000</I:calendar-color>')
    expect(text).toContain('<C:comp name="VEVENT"/></C:supported')
    const update = (content: string) =>
      me.send('PROPPATCH', `${home}work/`, {
        body: `<D:propertyupdate xmlns:D="DAV:" xmlns:x="urn:x">${content}</D:propertyupdate>`,
      })
    const set = await update(
      '<D:set><D:prop><x:note a="1">a<x:b/>c</x:note></D:prop></D:set><D:remove><D:prop><D:displayname/></D:prop></D:remove>',
    )
    expect(set.text).toContain('HTTP/1.1 200 OK')
    const read = await me.propfind(`${home}work/`, '<x:note xmlns:x="urn:x"/><D:displayname/>')
    expect(read.text).toContain('a<x:b xmlns:x="urn:x"></x:b>c')
    expect(read.text).toContain('<D:displayname>work</D:displayname>')
    const refused = await update(
      '<D:set><D:prop><x:other>1</x:other><D:getetag>"1"</D:getetag></D:prop></D:set>',
    )
    expect(refused.text).toContain('403 Forbidden')
    expect(refused.text).toContain('424 Failed Dependency')
    expect((await me.propfind(`${home}work/`, '<x:other xmlns:x="urn:x"/>')).text).toContain('404')
  })

  it('has the quota of the mailbox, and so have its homes', async () => {
    const quota = async (path: string) => {
      const asked = '<D:quota-used-bytes/><D:quota-available-bytes/>'
      const { text } = await me.propfind(path, asked)
      return [...text.matchAll(/<D:quota-\w+-bytes>(\d+)</g)].map(([, bytes]) => Number(bytes))
    }
    const before = await quota(home)
    const data = event('counted', NOON)
    await me.put(`${home}calendar/counted.ics`, data)
    const [used = 0, available = 0] = before
    const after = [used + data.length, available - data.length]
    for (const path of [home, books, `${home}calendar/`, `${books}contacts/`]) {
      expect(await quota(path), path).toEqual(after)
    }
    await me.delete(`${home}calendar/counted.ics`)
    expect(await quota(home)).toEqual(before)
    expect(await quota(`/dav/principals/${acme.accountId}/`)).toEqual([])
  })

  it('beyond the limit of the mailbox is refused with 507', async () => {
    const statuses: number[] = []
    for (const name of ['b1', 'b2', 'b3']) {
      const body =
        '<D:mkcol xmlns:D="DAV:" xmlns:A="urn:ietf:params:xml:ns:carddav"><D:set><D:prop><D:resourcetype><D:collection/><A:addressbook/></D:resourcetype></D:prop></D:set></D:mkcol>'
      statuses.push((await me.send('MKCOL', `${books}${name}/`, { body })).status)
    }
    expect(statuses).toEqual([201, 201, 507])
  })

  it('of another kind than its home is refused', async () => {
    const body =
      '<D:mkcol xmlns:D="DAV:"><D:set><D:prop><D:resourcetype><D:collection/></D:resourcetype></D:prop></D:set></D:mkcol>'
    const answer = await me.send('MKCOL', `${home}plain/`, { body })
    expect(answer.status).toBe(403)
    expect(answer.text).toContain('<D:valid-resourcetype/>')
  })
})

describe('bad requests', () => {
  it.each([
    ['a DOCTYPE', '<!DOCTYPE a [<!ENTITY e "x">]><propfind xmlns="DAV:"><prop/></propfind>'],
    ['no end', '<propfind xmlns="DAV:"><prop>'],
    ['61 levels', `${'<a>'.repeat(61)}${'</a>'.repeat(61)}`],
    ['10,001 elements', `<propfind xmlns="DAV:"><prop>${'<a/>'.repeat(10_000)}</prop></propfind>`],
    ['another root', '<prop xmlns="DAV:"/>'],
    ['two questions', '<propfind xmlns="DAV:"><allprop/><propname/></propfind>'],
    ['no question', '<propfind xmlns="DAV:"><unknown/></propfind>'],
  ])('with %s are refused with 400', async (_what, body) => {
    const answer = await me.send('PROPFIND', home, { body, headers: { depth: '0' } })
    expect(answer.status).toBe(400)
  })

  it.each([
    '/dav/calendars/%2e%2e/x/',
    '/dav/nothing/',
    '/dav/calendars/a/b/c/d/e',
    '/dav/calendars/a%2Fb/',
  ])('for %s are 404', async (path) => {
    expect((await me.propfind(path, '<D:displayname/>')).status).toBe(404)
  })
})

describe('the calendars of others', () => {
  it('are not found, in the same organization or in another', async () => {
    const globex = await dav.app.tenant('globex')
    const stranger = dav.client(globex.email)
    await stranger.propfind(`/dav/calendars/${globex.accountId}/`, '<D:displayname/>', '1')
    const theirs = `/dav/calendars/${globex.accountId}/calendar/`
    await stranger.put(`${theirs}secret.ics`, event('secret', NOON))
    const path = `${theirs}secret.ics`
    const to = { headers: { destination: `${dav.app.base}${home}calendar/stolen.ics` } }
    const answers = await Promise.all([
      me.get(path),
      me.put(path, event('secret', NOON)),
      me.delete(path),
      me.delete(theirs),
      me.propfind(theirs, '<D:displayname/>', '1'),
      me.propfind(`/dav/principals/${globex.accountId}/`, '<D:displayname/>'),
      me.send('COPY', path, to),
      me.send('MOVE', path, to),
      me.send('PROPPATCH', theirs, { body: '<D:propertyupdate xmlns:D="DAV:"/>' }),
      me.send('MKCALENDAR', `/dav/calendars/${globex.accountId}/new/`),
      me.report(
        theirs,
        '<D:sync-collection xmlns:D="DAV:"><D:sync-token/><D:prop/></D:sync-collection>',
      ),
    ])
    expect(answers.map(({ status }) => status)).toEqual(Array(answers.length).fill(404))
    const away = { headers: { destination: `${dav.app.base}${theirs}given.ics` } }
    await me.put(`${home}calendar/mine.ics`, event('mine', NOON))
    expect((await me.send('COPY', `${home}calendar/mine.ics`, away)).status).toBe(403)
    const multiget = `<C:calendar-multiget xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:prop><C:calendar-data/></D:prop><D:href>${path}</D:href></C:calendar-multiget>`
    expect((await me.report(`${home}calendar/`, multiget)).text).not.toContain('BEGIN:VCALENDAR')
    expect((await stranger.get(path)).status).toBe(200)
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { untilBlocked } from '../../../test/support/locks.ts'
import { waitFor } from '../../../test/support/wait.ts'

const PATH = '/api/v1/templates/'
const order = {
  name: 'Order',
  subject_template: 'Order {{ number }}',
  html_content: '<p>Hello {{ name }}</p>',
  variables: ['name', 'number'],
}

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: typeof acme
beforeAll(async () => {
  app = await startApp({ env: { TEMPLATES_QUOTA_MB: '1' } })
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => app.stop())

async function created(more: object = {}, tenant = acme) {
  const answer = await tenant.post(PATH, { ...order, ...more })
  expect(answer.status, answer.text).toBe(201)
  return answer.body.data
}

describe('a template', () => {
  it('is created with plain text of its HTML, and read without its metadata', async () => {
    const template = await created({ metadata: { team: 'shop' } })
    expect(template).toMatchObject({
      ...order,
      organization_id: acme.organizationId,
      category: 'general',
      compiled_html: null,
      plaintext_content: 'Hello {{ name }}\n',
      version: 1,
      render_count: 0,
      warnings: [],
    })
    const { warnings: _, ...stored } = template
    expect(stored).not.toHaveProperty('metadata')
    expect((await acme.get(`${PATH}${template.id}`)).body.data).toEqual(stored)
    const { body } = await acme.get(`${PATH}?q=ord&category=general`)
    expect(body.data.items.map(({ id }: { id: string }) => id)).toContain(template.id)
    expect(body.data.items[0]).not.toHaveProperty('html_content')
  })

  it('is refused with 400 and the reason when it cannot be rendered', async () => {
    const refusal = async (more: object) => {
      const { status, body } = await acme.post(PATH, { ...order, ...more })
      return `${status} ${body.msg}`
    }
    expect(await refusal({ html_content: '{% if a %}' })).toMatch(/^400 html_content: tag/)
    expect(await refusal({ subject_template: '{{ a | no }}' })).toMatch(
      /^400 subject_template: und/,
    )
    expect(await refusal({ html_content: '<mjml><mj-body><mj-x/></mj-body></mjml>' })).toBe(
      '400 html_content: unknown element mj-x',
    )
    expect((await acme.post(PATH, { ...order, html_content: 'x'.repeat(204_801) })).status).toBe(
      422,
    )
  })

  it('in MJML keeps its source, and warns of links that a variable decides', async () => {
    const html_content =
      '<mjml><mj-body><mj-section><mj-column><mj-button href="{{ link }}">Go</mj-button></mj-column></mj-section></mj-body></mjml>'
    const template = await created({ html_content })
    expect(template.html_content).toBe(html_content)
    expect(template.compiled_html).toContain('<!doctype html>')
    expect(template.warnings).toEqual([expect.stringContaining('href="{{ link }}"')])
  })

  it('is not found for another organization and after its deletion', async () => {
    const { id } = await created()
    for (const path of ['', '/versions', '/stats']) {
      expect((await globex.get(`${PATH}${id}${path}`)).status).toBe(404)
    }
    expect((await globex.put(`${PATH}${id}`, { name: 'mine' })).status).toBe(404)
    expect((await globex.post(`${PATH}${id}/render`, { variables: {} })).status).toBe(404)
    expect((await globex.delete(`${PATH}${id}`)).status).toBe(404)
    expect((await acme.delete(`${PATH}${id}`)).status).toBe(200)
    expect((await acme.get(`${PATH}${id}`)).body.msg).toBe('Template not found')
    const listed = async (query: string) =>
      (await acme.get(`${PATH}${query}`)).body.data.items.map((one: { id: string }) => one.id)
    expect(await listed('')).not.toContain(id)
    expect(await listed('?active_only=false')).toContain(id)
  })

  it('is refused with 409 when the organization has no room for it', async () => {
    const large = { html_content: 'x'.repeat(190_000), plaintext_content: 'x' }
    const initech = await app.tenant('initech')
    const statuses = []
    for (let at = 0; at < 6; at++)
      statuses.push((await initech.post(PATH, { ...order, ...large })).status)
    expect(statuses).toEqual([201, 201, 201, 201, 201, 409])
  })

  it('comes from the library without a warning', async () => {
    const { body } = await acme.get(`${PATH}library`)
    const starters = body.data.templates as { id: string; subject: string; html: string }[]
    expect(starters.map(({ id }) => id)).toEqual([
      'welcome',
      'password_reset',
      'invoice',
      'newsletter',
      'notification',
    ])
    for (const { id, subject, html } of starters) {
      const answer = await acme.post(`${PATH}preview`, {
        subject_template: subject,
        html_content: html,
      })
      expect(answer.status, `${id}: ${answer.text}`).toBe(200)
      expect(answer.body.data.warnings).toEqual([])
    }
  })
})

describe('versions', () => {
  it('have hash and author, can be compared and restored', async () => {
    const { id } = await created({ html_content: '<p>one</p>\n<p>two</p>' })
    const user = await app.dashboard(acme.email)
    await user.put(`${PATH}${id}`, { html_content: '<p>one</p>\n<p>three</p>', description: '' })
    await acme.put(`${PATH}${id}`, { name: 'Renamed', plaintext_content: '' })
    const { versions } = (await acme.get(`${PATH}${id}/versions`)).body.data
    expect(versions).toMatchObject([
      { version: 3, author: `api-key:${acme.organizationId}` },
      { version: 2, author: `user:${acme.email}`, content_hash: expect.stringMatching(/^\w{64}$/) },
      { version: 1 },
    ])
    const { body: diff } = await acme.get(`${PATH}${id}/versions/2/diff`)
    expect(diff.data).toMatchObject({
      version: 2,
      against: 1,
      html_content: [
        { kind: 'same', text: '<p>one</p>' },
        { kind: 'removed', text: '<p>two</p>' },
        { kind: 'added', text: '<p>three</p>' },
      ],
    })
    const restored = await acme.post(`${PATH}${id}/versions/1/restore`)
    expect(restored.body.data).toMatchObject({
      name: 'Renamed',
      description: '',
      version: 4,
      html_content: '<p>one</p>\n<p>two</p>',
      plaintext_content: 'one\n\ntwo\n',
      content_hash: versions[2].content_hash,
    })
    expect((await acme.get(`${PATH}${id}/versions/3`)).body.data.plaintext_content).toBe('')
    expect((await acme.get(`${PATH}${id}/versions/9`)).body.msg).toBe('Version not found')
    expect((await acme.get(`${PATH}${id}/versions/1/diff`)).status).toBe(404)
  })

  it('number changes at the same time one after the other', async () => {
    const { id } = await created()
    const names = ['a', 'b', 'c', 'd', 'e']
    await Promise.all(names.map((name) => acme.put(`${PATH}${id}`, { name })))
    const { versions } = (await acme.get(`${PATH}${id}/versions`)).body.data
    expect(versions.map(({ version }: { version: number }) => version)).toEqual([6, 5, 4, 3, 2, 1])
  })

  it.each([
    ['name', 'html_content'],
    ['html_content', 'name'],
    ['plaintext_content', 'subject_template'],
  ] as const)('keep a change of %s when %s changes at the same time', async (...fields) => {
    const { id } = await created()
    const changed = {
      name: 'Renamed',
      html_content: '<p>Other</p>',
      plaintext_content: 'Other',
      subject_template: 'Other',
    }
    const { db } = app.core
    const answers = await db.transaction().execute(async (tx) => {
      await tx.selectFrom('templates').select('id').where('id', '=', id).forUpdate().execute()
      const sent: ReturnType<typeof acme.put>[] = []
      for (const field of fields) {
        sent.push(acme.put(`${PATH}${id}`, { [field]: changed[field] }))
        await untilBlocked(db, sent.length)
      }
      return { sent }
    })
    const statuses = (await Promise.all(answers.sent)).map(({ status }) => status)
    expect(statuses).toEqual([200, 200])
    const { body } = await acme.get(`${PATH}${id}`)
    expect(body.data.version).toBe(3)
    for (const field of fields) expect(body.data[field]).toBe(changed[field])
  })

  it('begin anew for a copy', async () => {
    const { id } = await created({ category: 'marketing' })
    const copy = await acme.post(`${PATH}${id}/duplicate`, { new_name: 'Copy' })
    expect(copy.body.data).toMatchObject({ name: 'Copy', version: 1, category: 'marketing' })
  })
})

describe('rendering', () => {
  it('fills in variables, and refuses a missing one when it is strict', async () => {
    const { id } = await created()
    const variables = { name: '<Jane>', number: 4711 }
    const { body } = await acme.post(`${PATH}${id}/render`, { variables, strict: true })
    expect(body.data).toEqual({
      subject: 'Order 4711',
      html: '<p>Hello &lt;Jane&gt;</p>',
      plaintext: 'Hello <Jane>\n',
    })
    const lax = await acme.post(`${PATH}${id}/render`, { variables: {}, format: 'plaintext' })
    expect(lax.body.data).toEqual({ subject: 'Order', plaintext: 'Hello \n' })
    const strict = await acme.post(`${PATH}${id}/render`, { variables: {}, strict: true })
    expect(strict).toMatchObject({ status: 400, body: { msg: 'Missing variable: number' } })
    const large = await acme.post(`${PATH}${id}/render`, { variables: { a: 'x'.repeat(262_145) } })
    expect(large).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'variables'] }] } })
  })

  it('of a template that takes too long is refused with 400', async () => {
    const loop = '{% for i in (1..999) %}{% for j in (1..999) %}{% for k in (1..999) %}{% endfor %}'
    const { id } = await created({ html_content: `${loop}{% endfor %}{% endfor %}` })
    expect(await acme.post(`${PATH}${id}/render`, { variables: {} })).toMatchObject({
      status: 400,
      body: { msg: 'The template takes too long to render' },
    })
  })

  it('of 1,000 sets keeps their order, and names the set with a problem', async () => {
    const { id } = await created()
    const sets = Array.from({ length: 1000 }, (_, number) => ({ number, name: `n${number}` }))
    const { body } = await acme.post(`${PATH}${id}/render-many`, { sets, format: 'html' })
    expect(body.data.results).toHaveLength(1000)
    expect(body.data.results[999]).toEqual({ subject: 'Order 999', html: '<p>Hello n999</p>' })
    const some = [...sets.slice(0, 7), { number: 7 }]
    const refused = await acme.post(`${PATH}${id}/render-many`, { sets: some, strict: true })
    expect(refused).toMatchObject({ status: 400, body: { msg: 'Missing variable: name (set 7)' } })
    const many = { sets: [...sets, {}] }
    expect((await acme.post(`${PATH}${id}/render-many`, many)).status).toBe(422)
  })

  it('is counted', async () => {
    const { id } = await created()
    for (let at = 0; at < 3; at++) await acme.post(`${PATH}${id}/render`, { variables: {} })
    await acme.post(`${PATH}${id}/render-many`, { sets: [{}, {}] })
    const today = app.clock.now().toISOString().slice(0, 10)
    expect((await acme.get(`${PATH}${id}/stats`)).body.data).toMatchObject({
      template_id: id,
      total_renders: 5,
      daily_renders: [{ date: today, count: 5 }],
    })
    await acme.post(`${PATH}${id}/render`, { variables: {} })
    await waitFor(async () => (await acme.get(`${PATH}${id}`)).body.data.render_count === 6)
  })
})

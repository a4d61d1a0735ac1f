import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import { urlProtection } from './url-protection.ts'

const API = '/api/v1/url-protection'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp({ daemons: [urlProtection] })
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => app.stop())

describe('the list of an organization', () => {
  it.each([
    [{ entry_type: 'domain', entry: 'evil' }, 'Must be a host'],
    [{ entry_type: 'domain', entry: 'evil.test/x' }, 'Must be a host'],
    [{ entry_type: 'url', entry: 'evil.test' }, 'Must have a path'],
    [{ entry_type: 'pattern', entry: '(a+)\\1' }, 'RE2'],
    [{ entry_type: 'pattern', entry: '.*' }, 'every address'],
    [{ entry_type: 'other', entry: 'evil.test' }, ''],
  ])('refuses %j', async (body, text) => {
    const answer = await acme.post(`${API}/blocklist`, body)
    expect(answer.status).toBe(422)
    expect(JSON.stringify(answer.body)).toContain(text)
  })

  it('has each entry once, and is not found by others', async () => {
    const sent = { entry_type: 'domain', entry: 'Twice.test', reason: 'seen today' }
    const { body } = await acme.post(`${API}/blocklist`, sent)
    expect(body.data).toMatchObject({ entry: 'twice.test', reason: 'seen today' })
    expect(await acme.post(`${API}/blocklist`, sent)).toMatchObject({
      status: 409,
      body: { error_code: 'URL_ENTRY_EXISTS' },
    })
    expect((await globex.delete(`${API}/blocklist/${body.data.id}`)).status).toBe(404)
    const theirs = (await globex.get(`${API}/blocklist`)).body.data
    expect(theirs).toMatchObject({ items: [], pagination: { total: 0 } })
    expect((await acme.get(`${API}/blocklist?entry_type=domain`)).body.data.pagination.total).toBe(
      1,
    )
    expect((await acme.delete(`${API}/blocklist/${body.data.id}`)).status).toBe(200)
    const after = await acme.post(`${API}/scan`, { url: 'https://twice.test/' })
    expect(after.body.data.verdict).toBe('safe')
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { VERSION } from '../../version.ts'
import { manifestOf } from './manifest.ts'

const routes = async () => {}
const features = [
  { prefix: '/a', routes, capabilities: ['health', 'docs'] },
  { prefix: '/b', routes, capabilities: ['audit', 'docs', 'reputation'] },
  { prefix: '/c', routes },
]

describe('the capability manifest', () => {
  it('lists each capability of the given features once', () => {
    expect(manifestOf('enterprise', features)).toEqual({
      edition: 'enterprise',
      version: VERSION,
      capabilities: ['health', 'docs', 'audit', 'reputation'],
    })
  })
})

describe('GET /api/v1/capabilities/', () => {
  let enterprise: App
  let community: App
  beforeAll(async () => {
    enterprise = await startApp()
    community = await startApp({ env: { SVC_EDITION: 'community' } })
  })
  afterAll(async () => {
    await enterprise.stop()
    await community.stop()
  })

  it('is public and returns the manifest in the envelope and at top level', async () => {
    const { status, body } = await enterprise.send('GET', '/api/v1/capabilities/')
    expect(status).toBe(200)
    const { type, msg, data, ...top } = body
    expect({ type, msg }).toEqual({ type: 'success', msg: 'Capabilities retrieved successfully' })
    expect(top).toEqual(data)
    expect(data).toMatchObject({ edition: 'enterprise', version: VERSION })
    expect(data.capabilities).toEqual(expect.arrayContaining(['health', 'audit']))
  })

  it('omits in the community edition only what does not answer there (B7.2)', async () => {
    const of = async (app: App) =>
      (await app.send('GET', '/api/v1/capabilities/')).body.capabilities as string[]
    const [all, some] = [await of(enterprise), await of(community)]
    expect(all.filter((string) => !some.includes(string)).sort()).toEqual([
      'migration',
      'shared_mailboxes',
    ])
    expect(all).toEqual(expect.arrayContaining(some))
  })

  it.each([
    ['audit', '/api/v1/platform/audit', 401],
    ['dkim_rotation', '/api/v1/domains/', 401],
    ['dlp', '/api/v1/security/dlp/policies', 401],
    ['compliance', '/api/v1/compliance/legal-holds', 401],
    ['reputation', '/api/v1/reputation/ips', 401],
    ['migration', '/api/v1/migration/jobs', 404],
    ['shared_mailboxes', '/api/v1/shared-mailboxes', 404],
  ])('lists %s in the community edition if and only if it answers', async (name, path, status) => {
    const { body } = await community.send('GET', '/api/v1/capabilities/')
    expect(body.capabilities.includes(name)).toBe(status !== 404)
    expect((await community.send('GET', path)).status).toBe(status)
  })
})

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
  it('of the community edition leaves out what only enterprise has', () => {
    expect(manifestOf('community', features)).toEqual({
      edition: 'community',
      version: VERSION,
      capabilities: ['health', 'docs'],
    })
  })

  it('names each capability of the features that are there, once', () => {
    expect(manifestOf('enterprise', features).capabilities).toEqual([
      'health',
      'docs',
      'audit',
      'reputation',
    ])
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

  it('is public and stands in the envelope as well as at top level', async () => {
    const { status, body } = await enterprise.send('GET', '/api/v1/capabilities/')
    expect(status).toBe(200)
    const { type, msg, data, ...top } = body
    expect({ type, msg }).toEqual({ type: 'success', msg: 'Capabilities retrieved successfully' })
    expect(top).toEqual(data)
    expect(data).toMatchObject({ edition: 'enterprise', version: VERSION })
    expect(data.capabilities).toEqual(expect.arrayContaining(['health', 'audit']))
  })

  it('offers less in the community edition, and nothing that enterprise lacks', async () => {
    const of = async (app: App) =>
      (await app.send('GET', '/api/v1/capabilities/')).body.capabilities as string[]
    const [all, some] = [await of(enterprise), await of(community)]
    expect(some).toContain('health')
    expect(some).not.toContain('audit')
    expect(all).toEqual(expect.arrayContaining(some))
  })
})

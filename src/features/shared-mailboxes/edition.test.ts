import { expect, it } from 'vitest'
import { startApp } from '../../../test/support/app.ts'

const PATH = '/api/v1/shared-mailboxes'

it('shared mailbox routes return 404 in the community edition, also without an API key', async () => {
  const community = await startApp({ env: { SVC_EDITION: 'community' } })
  try {
    const tenant = await community.tenant('acme')
    expect((await tenant.get(PATH)).status).toBe(404)
    expect((await tenant.post(PATH, {})).status).toBe(404)
    expect((await community.send('GET', PATH)).status).toBe(404)
    const manifest = (await community.send('GET', '/api/v1/capabilities/')).body
    expect(manifest.capabilities).not.toContain('shared_mailboxes')
    expect(manifest.capabilities).toContain('aliases')
  } finally {
    await community.stop()
  }
})

it('shared mailboxes are advertised in the enterprise edition', async () => {
  const enterprise = await startApp()
  try {
    const { capabilities } = (await enterprise.send('GET', '/api/v1/capabilities/')).body
    expect(capabilities).toContain('shared_mailboxes')
  } finally {
    await enterprise.stop()
  }
})

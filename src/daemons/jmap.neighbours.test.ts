import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import { type JmapClient, jmapClient } from '../../test/support/jmap.ts'
import { startPlainImap } from '../../test/support/plain-imap.ts'
import { waitFor } from '../../test/support/wait.ts'
import { jmap } from './jmap.ts'

let app: App
let imap: Awaited<ReturnType<typeof startPlainImap>>
beforeAll(async () => {
  imap = await startPlainImap()
  app = await startApp({
    env: {
      IMAP_HOST: '127.0.0.1',
      IMAP_PORT: String(imap.port),
      IMAP_TLS: 'false',
      IMAP_MASTER_USER: 'master',
      IMAP_MASTER_PASSWORD: 'secret',
      JMAP_PUSH_CONNECTIONS: '2',
    },
    daemons: [jmap],
  })
})
afterAll(async () => {
  await app.stop()
  await imap.stop()
})

/** Opens a stream of changes; returns a function that ends it. */
async function open({ headers }: JmapClient): Promise<() => void> {
  const ending = new AbortController()
  const path = '/jmap/eventsource?types=*&closeafter=no&ping=0'
  const { status } = await fetch(app.base + path, { headers, signal: ending.signal })
  expect(status).toBe(200)
  return () => ending.abort()
}

it('watches the account of a tenant when another one has taken all connections', async () => {
  const [evil, acme] = [await app.tenant('evil'), await app.tenant('acme')]
  const mallory = await jmapClient(app.base, evil.email)
  for (const name of ['one', 'two', 'three']) {
    const email = `${name}@${evil.domain}`
    const made = await evil.post('/api/v1/shared-mailboxes', { email, name })
    const members = `/api/v1/shared-mailboxes/${made.body.data.id}/members`
    const member = { email_account_id: mallory.accountId, permission: 'read_only' }
    expect((await evil.post(members, member)).status).toBe(200)
  }
  const endTheirs = await open(mallory)
  await waitFor(() => imap.notified().length === 2)
  const endMine = await open(await jmapClient(app.base, acme.email))
  await waitFor(() => imap.notified().includes(acme.email))
  expect(imap.notified()).toHaveLength(2)
  endMine()
  await waitFor(() => !imap.notified().includes(acme.email) && imap.notified().length === 2)
  endTheirs()
})

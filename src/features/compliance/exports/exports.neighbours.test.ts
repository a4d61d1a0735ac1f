import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { startPlainImap } from '../../../../test/support/plain-imap.ts'
import { waitFor } from '../../../../test/support/wait.ts'

const PATH = '/api/v1/compliance/data-export'

let app: App
let imap: Awaited<ReturnType<typeof startPlainImap>>
beforeAll(async () => {
  // A mailbox that takes a very long time to read.
  imap = await startPlainImap({ drip: /^EXAMINE/, dripMs: 5000 })
  app = await startApp({
    env: {
      IMAP_HOST: '127.0.0.1',
      IMAP_PORT: String(imap.port),
      IMAP_TLS: 'false',
      IMAP_MASTER_USER: 'master',
      IMAP_MASTER_PASSWORD: 'secret',
    },
  })
})
afterAll(async () => {
  await imap.stop()
  await app.stop()
})

it('makes an export while many long ones of another tenant wait', async () => {
  const owner = await app.operator('owner')
  const request = (email: string, export_type: string) =>
    owner.post(`${PATH}/${email}`, { requested_by: 'owner', export_type })
  const statusesOf = async (email: string) =>
    (await owner.get(`${PATH}/${email}/status`)).body.data.items
      .map(({ status }: { status: string }) => status)
      .sort()
  const [evil, acme] = [await app.tenant('evil'), await app.tenant('acme')]
  for (let count = 0; count < 4; count++) {
    expect((await request(evil.email, 'emails')).status).toBe(201)
  }
  await waitFor(() => imap.seen.some((command) => /^EXAMINE/.test(command)))
  await request(acme.email, 'contacts')
  await waitFor(async () => (await statusesOf(acme.email))[0] === 'completed')
  expect(await statusesOf(evil.email)).toEqual(['pending', 'pending', 'pending', 'processing'])
})

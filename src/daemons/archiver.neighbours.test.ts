import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  ARCHIVE,
  type ArchiveHost,
  startArchiveHost,
  type Tenant,
} from '../../test/support/archive-host.ts'
import { waitFor } from '../../test/support/wait.ts'

const BECAUSE = { reason: 'asked for by the auditor' }

let host: ArchiveHost
beforeAll(async () => {
  // No IMAP server, so an import fails each time.
  host = await startArchiveHost()
})
afterAll(() => host.stop())

const start = async (tenant: Tenant, job: object) => {
  const started = await tenant.post(`${ARCHIVE}/jobs`, { ...job, ...BECAUSE })
  expect(started.status, started.text).toBe(201)
  return async () => (await tenant.get(`${ARCHIVE}/jobs/${started.body.data.id}`)).body.data
}

it('runs the jobs of a tenant while those of another one fail again and again', async () => {
  const [evil, acme] = [await host.adminOf('evil'), await host.adminOf('acme')]
  const failing = await start(evil, { kind: 'import', email: evil.email })
  await waitFor(async () => (await failing()).error !== null)
  const mine = await start(acme, { kind: 'rekey' })
  await waitFor(async () => (await mine()).status === 'completed')
  expect(await failing()).toMatchObject({ status: 'running', finished_at: null })
})

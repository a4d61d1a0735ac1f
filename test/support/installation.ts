import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'
import { totpCode } from '../../src/lib/totp.ts'
import { clientOf, PASSWORD } from './app.ts'
import { type Server, startServer, temporaryFolder } from './process.ts'

export interface Installation {
  dataDir: string
  organizationId: string
  apiKey: string
  jar: Map<string, string>
}

// Initialized and bootstrapped once per worker and then copied, which is much faster.
let original: Promise<Installation> | undefined

/** A data folder with an organization, its key and a signed-in owner, without a running server. */
export async function installation(): Promise<Installation> {
  original ??= makeOriginal()
  const made = await original
  const dataDir = join(temporaryFolder(), 'data')
  spawnSync('cp', ['-a', made.dataDir, dataDir])
  // Every copy gets a port of its own.
  rmSync(join(dataDir, 'postgres-port'))
  return { ...made, dataDir, jar: new Map(made.jar) }
}

export const ownerOf = (server: { base: string }, { jar }: Pick<Installation, 'jar'>) =>
  clientOf(server, {}, jar)

async function makeOriginal(): Promise<Installation> {
  const dataDir = join(mkdtempSync(join(inject('installations'), 'worker-')), 'data')
  const server = await startServer({ dataDir, env: { SVC_COOKIE_SECURE: 'false' } })
  const made = { dataDir, ...(await bootstrapBoth(server)) }
  await server.stop()
  return made
}

/** Creates the first organization and the first operator, through both login steps. */
export async function bootstrapBoth(server: Server) {
  const token = (file: string) => ({
    'x-bootstrap-token': readFileSync(join(server.dataDir, file), 'utf8').trim(),
  })
  const tenant = await server.send('POST', '/api/v1/bootstrap/', {
    headers: token('bootstrap-token'),
    body: { organization_name: 'Acme', admin_email: 'admin@acme.test', admin_password: PASSWORD },
  })
  await server.send('POST', '/api/v1/platform/auth/bootstrap', {
    headers: token('operator-bootstrap-token'),
    body: { email: 'root@ops.test', full_name: 'Root', password: PASSWORD },
  })
  const jar = new Map<string, string>()
  const owner = ownerOf(server, { jar })
  await owner.post('/api/v1/platform/auth/login', { email: 'root@ops.test', password: PASSWORD })
  const setup = await owner.post('/api/v1/platform/auth/mfa/setup')
  const code = totpCode(setup.body.data.secret, Math.floor(Date.now() / 30_000))
  await owner.post('/api/v1/platform/auth/mfa', { token: code })
  const { organization_id: organizationId, api_key: apiKey } = tenant.body.data
  return { organizationId: organizationId as string, apiKey: apiKey as string, jar }
}

declare module 'vitest' {
  interface ProvidedContext {
    installations: string
  }
}

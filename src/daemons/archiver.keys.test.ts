import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { App } from '../../test/support/app.ts'
import {
  type ArchiveHost,
  letter,
  startArchiveHost,
  uploaded,
} from '../../test/support/archive-host.ts'
import { type AgeIdentity, newIdentity } from '../lib/age.ts'
import { StartupError } from '../startup-error.ts'
import { archiver } from './archiver.ts'

const [first, second, foreign] = [newIdentity(), newIdentity(), newIdentity()]
const folder = mkdtempSync(join(tmpdir(), 'mailplane-archive-'))
const path = join(folder, 'identities')
const write = (...identities: AgeIdentity[]) =>
  writeFileSync(path, `# kept by the operator\n${identities.map(({ text }) => text).join('\n')}\n`)

let host: ArchiveHost
let app: App
beforeAll(async () => {
  write(first)
  host = await startArchiveHost({ ARCHIVE_AGE_IDENTITY_FILE: path })
  app = host.app
  const acme = await host.adminOf('acme')
  await host.pass(acme.email, letter('for the first identity'))
  await uploaded(acme)
  write(second, first)
  await host.pass(acme.email, letter('also for the first identity'))
  await uploaded(acme, 2)
})
beforeEach(() => host.s3.back())
afterAll(async () => {
  await host.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Starts the service as after a change of its settings, and stops it. */
async function start(changed: Partial<App['core']['config']> = {}): Promise<void> {
  const service = await archiver.start({ ...app.core, config: { ...app.core.config, ...changed } })
  await service.stop()
}

it('starts with a new identity while the file has the earlier one too', async () => {
  write(second, first)
  await start()
})

it('refuses to start when no identity in the file opens an archived message', async () => {
  write(second)
  const refused = start()
  await expect(refused).rejects.toBeInstanceOf(StartupError)
  await expect(refused).rejects.toThrow(/no identity in ARCHIVE_AGE_IDENTITY_FILE opens archive\//)
})

it('starts without the earlier identity when the operator gives it up as lost', async () => {
  write(foreign)
  await start({ ARCHIVE_IDENTITY_LOST: true })
})

it('starts while the storage is away, whatever the file has', async () => {
  write(second)
  await host.s3.away()
  await start()
  await host.s3.back()
  await host.s3.silence()
  await start()
})

it('refuses to start when DR_AGE_RECIPIENT is the recipient of the archive itself', async () => {
  write(first)
  for (const text of [first.recipient.text, first.recipient.text.toUpperCase()]) {
    const refused = start({ DR_AGE_RECIPIENT: text })
    await expect(refused).rejects.toThrow('DR_AGE_RECIPIENT is the recipient of the archive itself')
  }
})

it('does not read the identities of a host without an archive', async () => {
  rmSync(path)
  await start({ S3_BUCKET: undefined })
})

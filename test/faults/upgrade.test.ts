import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { knownMigrations } from '../../src/database/migrations.ts'
import { davClient } from '../support/dav.ts'
import { mailLog } from '../support/mail-log.ts'
import {
  cleanUp,
  run,
  type Server,
  spawnServer,
  startServer,
  temporaryFolder,
  until,
} from '../support/process.ts'
import { builtRelease, isShallow, type Release, releases } from '../support/releases.ts'

afterEach(cleanUp)

const PASSWORD = 'Tr0ub4dor-and-3-horses'
const MAILBOX = 'jane@acme.example'
const LATER_ALIAS = 'later@acme.example'

interface Kept {
  headers: Record<string, string>
  messageId: string
}

const title = isShallow ? ' (skipped: this clone is shallow)' : ''

describe.skipIf(isShallow).each(releases)(`an upgrade from release $version${title}`, (release) => {
  it('keeps everything, and leads back with or without the backup', async () => {
    const main = builtRelease(release)
    const dataDir = join(temporaryFolder(), 'data')
    const log = join(temporaryFolder(), 'mail.log')
    const env = { MAIL_LOG_FILE: log }
    const previous = { dataDir, env, main }
    const { added, isCompatible } = changesSince(main)

    const before = await ready({ ...previous })
    const kept = await filled(before, log)
    const found = await contentOf(before, kept)
    expect(found.answers.map(({ status }) => status)).toEqual(found.answers.map(() => 200))
    const planned = await run(['db', 'migrate', '--plan', '--json'], { DATA_DIR: dataDir })
    expect(JSON.parse(planned.stdout).migrations).toMatchObject(
      added.map(({ name }) => ({ migration: name })),
    )
    expect((await before.stop()).code).toBe(0)

    const after = await ready({ dataDir, env })
    await expectKept(after, kept, found)
    await addAlias(after, kept)
    expect((await after.stop()).code).toBe(0)
    const backups = added.length === 0 ? [] : readdirSync(join(dataDir, 'backups'))
    expect(backups).toHaveLength(added.length === 0 ? 0 : 1)

    // The previous version goes on with the newer schema, unless a migration forbids it.
    if (isCompatible) {
      const again = await ready(previous)
      await expectKept(again, kept, found)
      expect(await aliasesOf(again, kept)).toContain(LATER_ALIAS)
      expect((await again.stop()).code).toBe(0)
    } else {
      const refused = await spawnServer(previous).ended
      expect(refused.stderr).toContain('the database was migrated by a newer version')
    }
    if (added.length === 0) return

    // The backup that was made before the migration brings back what the release had.
    const BACKUP_PASSPHRASE = readFileSync(join(dataDir, 'secret-key'), 'utf8').trim()
    const file = join(dataDir, 'backups', backups[0] as string)
    const restored = await run(
      ['restore', '--force', file],
      { DATA_DIR: dataDir, BACKUP_PASSPHRASE },
      main,
    )
    expect(restored).toMatchObject({ code: 0 })
    const back = await ready(previous)
    await expectKept(back, kept, found)
    expect(await aliasesOf(back, kept)).not.toContain(LATER_ALIAS)
    expect((await back.stop()).code).toBe(0)
  })
})

it('an upgrade from a release whose commit is missing fails instead of being left out', () => {
  const unknown: Release = { version: '0.0.1', commit: '0'.repeat(40) }
  expect(() => builtRelease(unknown)).toThrow('this clone needs the whole history')
})

/** The migrations that a release does not have. */
function changesSince(main: string) {
  const had = new Set(readdirSync(join(dirname(main), '..', 'migrations')))
  const added = knownMigrations().filter(({ name }) => !had.has(name))
  return { added, isCompatible: added.every((file) => file.isCompatible) }
}

async function ready(start: Parameters<typeof startServer>[0]): Promise<Server> {
  const server = await startServer(start)
  await until(async () => (await server.health()).status === 200)
  return server
}

/** An organization with a key, a domain, a mailbox, events and a logged message. */
async function filled(server: Server, logFile: string): Promise<Kept> {
  const token = readFileSync(join(server.dataDir, 'bootstrap-token'), 'utf8').trim()
  const made = await server.send('POST', '/api/v1/bootstrap/', {
    headers: { 'x-bootstrap-token': token },
    body: {
      organization_name: 'Acme',
      admin_email: 'admin@acme.example',
      admin_password: PASSWORD,
    },
  })
  expect(made.status).toBe(200)
  const headers = { 'x-api-key': made.body.data.api_key }
  const mailbox = await server.send('POST', '/api/v1/mailboxes/email-accounts', {
    headers,
    body: { email: MAILBOX, password: PASSWORD },
  })
  expect(mailbox.status).toBe(201)
  const { messageId } = mailLog(logFile).message({ sender: MAILBOX, login: MAILBOX })
  const kept = { headers, messageId }
  const logged = `/api/v1/messages/${encodeURIComponent(messageId)}`
  await until(async () => (await server.send('GET', logged, { headers })).status === 200)
  return kept
}

/** The answers that an upgrade must keep. */
async function contentOf(server: Server, { headers, messageId }: Kept) {
  const paths = [
    '/api/v1/auth/me',
    '/api/v1/domains/',
    '/api/v1/mailboxes/email-accounts',
    '/api/v1/activity/',
    `/api/v1/messages/${encodeURIComponent(messageId)}`,
  ]
  const answers = []
  for (const path of paths) answers.push(await server.send('GET', path, { headers }))
  return { paths, answers }
}

/** A later version may add fields and events. */
async function expectKept(
  server: Server,
  kept: Kept,
  { paths, answers }: Awaited<ReturnType<typeof contentOf>>,
): Promise<void> {
  const now = await contentOf(server, kept)
  for (const [index, answer] of now.answers.entries()) {
    expect(answer.status, paths[index]).toBe(200)
    const earlier = contentsIn(answers[index]?.body.data)
    const contents = contentsIn(answer.body.data)
    // New entries of a list come first.
    const same = Array.isArray(contents) ? contents.slice(-earlier.length) : contents
    expect(same, paths[index]).toMatchObject(earlier)
  }
  const login = await davClient(server, MAILBOX, PASSWORD).propfind(
    '/dav/',
    '<D:current-user-principal/>',
  )
  expect(login.status).toBe(207)
}

/** The items of a list, and the organization of /auth/me, whose manifest names the version. */
const contentsIn = (data: { items?: unknown[]; organization?: object }) =>
  (data.items ?? data.organization ?? data) as { length: number }

async function addAlias(server: Server, { headers }: Kept): Promise<void> {
  const { body } = await server.send('POST', '/api/v1/aliases/add', {
    headers,
    body: { source: LATER_ALIAS, destination: MAILBOX },
  })
  expect(body.type).toBe('success')
}

const aliasesOf = async (server: Server, { headers }: Kept): Promise<string[]> => {
  const { body } = await server.send('GET', '/api/v1/aliases/get/all', { headers })
  return body.data.map(({ source }: { source: string }) => source)
}

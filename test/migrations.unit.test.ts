import { spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { knownMigrations, statementsOf } from '../src/database/migrations.ts'
import { sha256 } from '../src/lib/tokens.ts'
import { ROOT } from './support/documentation.ts'
import { isShallow } from './support/releases.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mailplane-migrations-'))
  cpSync(join(ROOT, 'migrations'), folder, { recursive: true })
})
afterEach(() => rmSync(folder, { recursive: true }))

const run = (...args: string[]) => {
  const script = join(ROOT, 'scripts', 'migrations.mjs')
  const { status, stderr } = spawnSync(process.execPath, [script, folder, ...args])
  return { status, complaint: stderr.toString() }
}

it('refuses a landed migration that was changed, and does not freeze the change', () => {
  expect(run('--check')).toEqual({ status: 0, complaint: '' })
  appendFileSync(join(folder, '0001_tenancy.sql'), '-- one more comment\n')
  const complaint = expect.stringContaining('0001_tenancy.sql has landed and was changed')
  expect(run('--check')).toEqual({ status: 1, complaint })
  expect(run()).toEqual({ status: 1, complaint })
  expect(run('--check')).toEqual({ status: 1, complaint })
})

it.skipIf(isShallow)(
  'refuses a released migration that was changed together with its checksum',
  () => {
    const list = join(folder, 'checksums.txt')
    const first = readFileSync(join(folder, '0001_tenancy.sql'), 'utf8')
    const changed = `${first}-- one more comment\n`
    writeFileSync(join(folder, '0001_tenancy.sql'), changed)
    const checksums = readFileSync(list, 'utf8')
    writeFileSync(list, checksums.replace(sha256(first), sha256(changed)))
    const complaint = expect.stringContaining('0001_tenancy.sql is not as release 1.0.0 has it')
    expect(run('--check')).toEqual({ status: 1, complaint })
  },
)

it.skipIf(isShallow)(
  'refuses a released migration that was removed together with its checksum',
  () => {
    const list = join(folder, 'checksums.txt')
    rmSync(join(folder, '0005_mail_log.sql'))
    const checksums = readFileSync(list, 'utf8')
    writeFileSync(list, checksums.replace(/^.* {2}0005_mail_log\.sql\n/m, ''))
    const complaint = expect.stringContaining('0005_mail_log.sql is not as release 1.0.0 has it')
    expect(run('--check')).toEqual({ status: 1, complaint })
  },
)

it('refuses a landed migration that is missing', () => {
  rmSync(join(folder, '0005_mail_log.sql'))
  const complaint = expect.stringContaining('0005_mail_log.sql has landed and is missing')
  expect(run('--check')).toEqual({ status: 1, complaint })
})

it('freezes a new migration', () => {
  writeFileSync(join(folder, '9001_notices.sql'), 'create table notices (id text primary key);\n')
  expect(run('--check').complaint).toContain('9001_notices.sql is new')
  expect(run()).toEqual({ status: 0, complaint: '' })
  expect(run('--check')).toEqual({ status: 0, complaint: '' })
  expect(readFileSync(join(folder, 'checksums.txt'), 'utf8')).toContain('  9001_notices.sql\n')
})

it('refuses a mark that it does not know', () => {
  writeFileSync(join(folder, '9001_notices.sql'), '-- migrate: outside\nselect 1;\n')
  expect(() => knownMigrations(folder)).toThrow('9001_notices.sql has the mark outside')
})

it('reads the statements of a file that runs outside a transaction', () => {
  expect(statementsOf('-- migrate: outside a transaction\nselect 1;\n\nselect\n  2;')).toEqual([
    'select 1',
    'select\n  2',
  ])
})

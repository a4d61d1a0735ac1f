import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { debianFolder, debianMissing } from '../support/containers.ts'
import { makePackage } from '../support/debian-package.ts'
import { cleanUp, temporaryFolder, until } from '../support/process.ts'
import { missingProgram, runProgram, skipped } from '../support/programs.ts'

afterAll(cleanUp)

const missing = missingProgram('dpkg-deb') ?? debianMissing

// No process of the package may need more than this: its files, /proc and /dev.
const ENTER = `mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && machine=$1 && shift &&
  exec chroot --userspec=mailplane:mailplane "$machine" "$@"`

describe.skipIf(missing)(`the Debian package${skipped(missing)}`, () => {
  let machine: string
  beforeAll(() => {
    machine = join(temporaryFolder(), 'machine')
    runProgram('cp', ['--archive', '--reflink=auto', debianFolder(), machine])
    makePackage(join(machine, 'mailplane.deb'))
  })

  it('installs into a bare Debian 12 and makes its user, folders and units', () => {
    runProgram('chroot', [machine, 'dpkg', '--install', '/mailplane.deb'])
    expect(readFileSync(join(machine, 'etc/passwd'), 'utf8')).toMatch(/^mailplane:/m)
    expect(statSync(join(machine, 'var/lib/mailplane/data')).mode & 0o7777).toBe(0o1771)
    expect(statSync(join(machine, 'etc/mailplane')).mode & 0o777).toBe(0o700)
    expect(existsSync(join(machine, 'usr/lib/systemd/system/mailplane.service'))).toBe(true)
  })

  it('serves as its user in there, and answers a request', async () => {
    const program = '/opt/mailplane/node_modules/.bin/node'
    const server = spawn(
      'unshare',
      [
        ...['--mount', 'sh', '-c', ENTER, 'sh', machine],
        ...['env', 'DATA_DIR=/var/lib/mailplane/data', 'PORT=0', 'SVC_HASHING_COST=lowest'],
        ...['SVC_SERVICES=api', program, '/opt/mailplane/dist/main.js', 'serve'],
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    )
    const ended = once(server, 'close')
    let output = ''
    for (const stream of [server.stdout, server.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text
      })
    }
    const base = () => /ready at (http:\S+)/.exec(output)?.[1]
    await until(() => base() !== undefined || server.exitCode !== null)
    expect(base(), output).toBeDefined()
    await until(async () => (await fetch(`${base()}/health`)).status === 200)
    const owner = statSync(join(machine, 'var/lib/mailplane/data/secret-key')).uid
    const [, uid] =
      /^mailplane:x:(\d+):/m.exec(readFileSync(join(machine, 'etc/passwd'), 'utf8')) ?? []
    expect(String(owner)).toBe(uid)
    server.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  })

  it('is purged without a trace but its data', () => {
    runProgram('chroot', [machine, 'dpkg', '--purge', 'mailplane'])
    const left = [
      'opt/mailplane',
      'etc/mailplane',
      'usr/bin/mailplane',
      'etc/logrotate.d/mailplane',
    ]
    expect(left.filter((path) => existsSync(join(machine, path)))).toEqual([])
    expect(existsSync(join(machine, 'var/lib/mailplane/data/secret-key'))).toBe(true)
  })
})

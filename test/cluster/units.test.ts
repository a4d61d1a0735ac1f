import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { ROOT } from '../support/documentation.ts'
import { cleanUp, temporaryFolder } from '../support/process.ts'
import { missingProgram, runProgram, skipped } from '../support/programs.ts'

afterAll(cleanUp)

const UNITS = join(ROOT, 'deploy', 'systemd')
const missing = missingProgram('systemd-analyze')

// The figures of `systemd-analyze security`: 0 is closed, 10 is open.
const EXPOSURE = {
  'mailplane.service': 1.3,
  'mailplane-backup.service': 1.5,
  'mailplane-helper.service': 3,
  'mailplane-certificates.service': 5,
  'mailplane-edge.service': 5.5,
}

describe.skipIf(missing)(`the units in deploy/systemd${skipped(missing)}`, () => {
  it('are accepted by systemd without a warning', () => {
    const folder = temporaryFolder()
    const program = join(folder, 'opt', 'node_modules', '.bin', 'node')
    mkdirSync(join(program, '..'), { recursive: true })
    writeFileSync(program, '')
    chmodSync(program, 0o755)
    const names = readdirSync(UNITS)
    for (const name of names) {
      // The programs must exist, and no nginx, curl or systemctl is needed here.
      const text = readFileSync(join(UNITS, name), 'utf8')
        .replaceAll('/opt/mailplane', join(folder, 'opt'))
        .replace(/\/usr\/bin\/(curl|systemctl)/g, program)
      writeFileSync(join(folder, name), text)
    }
    const paths = names.map((name) => join(folder, name))
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', ...paths], {
      encoding: 'utf8',
    })
    const ours = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('mailplane'))
    expect({ status, ours }).toEqual({ status: 0, ours: [] })
  })

  it.each(Object.entries(EXPOSURE))('%s has an exposure of at most %d', (name, limit) => {
    const report = runProgram('systemd-analyze', [
      'security',
      '--offline=yes',
      '--no-pager',
      join(UNITS, name),
    ])
    const exposure = Number(/exposure level for \S+: ([\d.]+)/.exec(report)?.[1])
    expect(exposure).toBeLessThanOrEqual(limit)
  })
})

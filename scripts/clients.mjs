// Installs the programs of other people that the lane clients runs, if this runs as root on Debian.
import { existsSync } from 'node:fs'
import { aptInstall, canInstall } from './apt.mjs'

const PROGRAMS = {
  '/usr/bin/mta-sts-query': 'postfix-mta-sts-resolver',
  '/usr/bin/thunderbird': 'thunderbird',
  '/usr/bin/vdirsyncer': 'vdirsyncer',
  '/usr/bin/khal': 'khal',
  '/usr/bin/khard': 'khard',
}

const missingPackages = () =>
  Object.entries(PROGRAMS).flatMap(([program, name]) => (existsSync(program) ? [] : [name]))

export function installClients() {
  const missing = missingPackages()
  if (missing.length === 0) return
  if (!canInstall()) {
    process.stderr.write(
      `clients lane: some tests are skipped, as root run: apt-get install ${missing.join(' ')}\n`,
    )
    return
  }
  process.stderr.write(`clients lane: installing ${missing.join(' ')} …\n`)
  aptInstall(missing)
  const left = missingPackages()
  if (left.length > 0)
    process.stderr.write(
      `clients lane: some tests are skipped, could not install ${left.join(' ')}\n`,
    )
}

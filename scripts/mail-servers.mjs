// The mail servers the mail lane talks to. Installed from Debian when this runs as root and they are absent.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** Which packages are needed, the server itself knows; it is built by now. */
const missingPackages = async () => [
  ...(await import('../dist/edge/packages.js')).missingPackages(),
  // Not for the edge, but for tests of what several processes share.
  ...(existsSync('/usr/bin/redis-server') ? [] : ['redis-server']),
  // A CA to obtain certificates from.
  ...(existsSync('/usr/bin/pebble') ? [] : ['pebble']),
]

export async function installMailServers() {
  const missing = await missingPackages()
  if (missing.length === 0) return
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    process.stderr.write(`mail lane: skipped, as root run: apt-get install ${missing.join(' ')}\n`)
    return
  }
  process.stderr.write(`mail lane: installing ${missing.join(' ')} …\n`)
  // No service may start by itself: the tests run their own, privately.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  const apt = (...args) =>
    spawnSync('apt-get', ['-qq', ...args], { env, stdio: ['ignore', 'ignore', 2] })
  const options = ['-o', 'Dpkg::Options::=--force-confold', '--no-install-recommends', '-y']
  if (apt('install', ...options, ...missing).status !== 0) {
    apt('update')
    apt('install', ...options, ...missing)
  }
  const left = await missingPackages()
  if (left.length > 0)
    process.stderr.write(`mail lane: skipped, could not install ${left.join(' ')}\n`)
}

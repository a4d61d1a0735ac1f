// Installs the mail servers for the mail lane from Debian if they are missing and this runs as root.
import { existsSync } from 'node:fs'
import { aptInstall, canInstall } from './apt.mjs'

/** The built server knows which packages the edge needs; the others are only for tests. */
const missingPackages = async () => [
  ...(await import('../dist/edge/packages.js')).missingPackages(),
  // For tests with several processes.
  ...(existsSync('/usr/bin/redis-server') ? [] : ['redis-server']),
  // An ACME server for tests of certificates.
  ...(existsSync('/usr/bin/pebble') ? [] : ['pebble']),
  // The reverse proxies of docs/reverse-proxy.md.
  ...(existsSync('/usr/sbin/nginx') ? [] : ['nginx']),
  ...(existsSync('/usr/bin/caddy') ? [] : ['caddy']),
]

export async function installMailServers() {
  const missing = await missingPackages()
  if (missing.length === 0) return
  if (!canInstall()) {
    process.stderr.write(`mail lane: skipped, as root run: apt-get install ${missing.join(' ')}\n`)
    return
  }
  process.stderr.write(`mail lane: installing ${missing.join(' ')} …\n`)
  aptInstall(missing)
  const left = await missingPackages()
  if (left.length > 0)
    process.stderr.write(`mail lane: skipped, could not install ${left.join(' ')}\n`)
}

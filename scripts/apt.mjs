// Installs Debian packages for the lanes that need them.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

export const canInstall = () => process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')

export function aptInstall(packages) {
  // RUNLEVEL=1 keeps the packages from starting their services; the tests start their own.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  const apt = (...args) =>
    spawnSync('apt-get', ['-qq', ...args], { env, stdio: ['ignore', 'ignore', 2] })
  const options = ['-o', 'Dpkg::Options::=--force-confold', '--no-install-recommends', '-y']
  if (apt('install', ...options, ...packages).status !== 0) {
    apt('update')
    apt('install', ...options, ...packages)
  }
}

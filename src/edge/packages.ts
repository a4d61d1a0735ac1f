import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { StartupError } from '../startup-error.ts'

/** Debian's packages, each with a file that is there when it is installed. */
const PACKAGES = {
  postfix: '/usr/lib/postfix/sbin/master',
  'postfix-pgsql': '/usr/lib/postfix/postfix-pgsql.so',
  'dovecot-imapd': '/usr/lib/dovecot/imap',
  'dovecot-pop3d': '/usr/lib/dovecot/pop3',
  'dovecot-lmtpd': '/usr/lib/dovecot/lmtp',
  'dovecot-managesieved': '/usr/lib/dovecot/managesieve',
  'dovecot-sieve': '/usr/bin/sievec',
  'dovecot-pgsql': '/usr/lib/dovecot/modules/libdriver_pgsql.so',
  rspamd: '/usr/bin/rspamd',
  openssl: '/usr/bin/openssl',
}

export const missingPackages = (): string[] =>
  Object.entries(PACKAGES)
    .filter(([, file]) => !existsSync(file))
    .map(([name]) => name)

/** Why no edge can run here; undefined when one can. */
export function edgeImpossible(): string | undefined {
  const missing = missingPackages()
  if (missing.length > 0) {
    return `packages are missing; run: apt-get install --no-install-recommends ${missing.join(' ')}`
  }
  const { stdout } = spawnSync('/usr/sbin/dovecot', ['--version'], { encoding: 'utf8' })
  if (!stdout.startsWith('2.3.')) {
    return `the configuration is for Dovecot 2.3, and this is ${stdout.trim()}`
  }
  if (process.getuid?.() !== 0) return 'Postfix needs root to change to the users of its parts'
  return undefined
}

export function requirePackages(): void {
  const reason = edgeImpossible()
  if (reason !== undefined) throw new StartupError(`the mail edge cannot run: ${reason}`)
}

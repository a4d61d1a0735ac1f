import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Config } from '../config/index.ts'
import { StartupError } from '../startup-error.ts'

/** The required Debian packages, each with a file that shows that it is installed. */
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

const CLAMAV = { 'clamav-daemon': '/usr/sbin/clamd' }

type Settings = Pick<Config, 'EDGE_ANTIVIRUS'>

export const missingPackages = (
  { EDGE_ANTIVIRUS }: Settings = { EDGE_ANTIVIRUS: true },
): string[] =>
  Object.entries({ ...PACKAGES, ...(EDGE_ANTIVIRUS && CLAMAV) })
    .filter(([, file]) => !existsSync(file))
    .map(([name]) => name)

/** The reason why no edge can run on this machine; undefined when one can. */
export function edgeImpossible(settings?: Settings): string | undefined {
  const missing = missingPackages(settings)
  if (missing.length > 0) {
    const without = missing.includes('clamav-daemon')
      ? ' (EDGE_ANTIVIRUS=false needs no ClamAV)'
      : ''
    return `packages are missing; run: apt-get install --no-install-recommends ${missing.join(' ')}${without}`
  }
  const { stdout } = spawnSync('/usr/sbin/dovecot', ['--version'], { encoding: 'utf8' })
  if (!stdout.startsWith('2.3.')) {
    return `the configuration is for Dovecot 2.3, and this is ${stdout.trim()}`
  }
  if (process.getuid?.() !== 0) return 'Postfix needs root to change to the users of its parts'
  return undefined
}

export function requirePackages(settings: Settings): void {
  const reason = edgeImpossible(settings)
  if (reason !== undefined) throw new StartupError(`the mail edge cannot run: ${reason}`)
}

import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { StartupError } from '../startup-error.ts'
import { SPAM_SCRIPT } from './dovecot.ts'

/** Compiles the Sieve script for all mailboxes, which a delivery can read and not write. */
export function compileSieve(dovecotConfig: string): void {
  const script = join(dovecotConfig, SPAM_SCRIPT)
  // A host without mailboxes has no script.
  if (!existsSync(script)) return
  const args = ['-c', join(dovecotConfig, 'dovecot.conf'), script]
  const { status, stderr, error } = spawnSync('/usr/bin/sievec', args, { encoding: 'utf8' })
  if (status !== 0) throw new StartupError(`sievec failed: ${error?.message ?? stderr.trim()}`)
  chmodSync(script.replace(/sieve$/, 'svbin'), 0o644)
}

import type { Config } from '../config/index.ts'
import type { Offered } from '../daemons/index.ts'
import { type Log, serviceLog } from '../log.ts'
import type { Closers } from './lifecycle.ts'

/** Opens one log per daemon. The first one also takes the lines of the shared parts. */
export function openLogs(
  daemons: readonly Offered[],
  config: Config,
  closers: Closers,
  worker?: string,
): [Log, ...Log[]] {
  const logs = daemons.map(({ name }) => serviceLog(name, config, worker))
  closers.push(() => {
    for (const { close } of logs) close()
  })
  return logs.map(({ log }) => log) as [Log, ...Log[]]
}

export function warnAboutSettings(config: Config, log: Log): void {
  if (config.SVC_HASHING_COST === 'lowest') {
    log.warn('SVC_HASHING_COST is lowest: stored passwords are easy to guess')
  }
  if (config.SVC_DOMAIN_OWNERSHIP === 'off') {
    log.warn('SVC_DOMAIN_OWNERSHIP is off: every organization can take the mail of any domain')
  }
  if (process.getuid?.() === 0) {
    log.warn('this process runs as root: create the user mailplane or set SVC_USER')
  }
}

import { execFile } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { isAbsolute } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../../../config/index.ts'
import type { Core } from '../../../core.ts'
import type { DnsLookups } from '../../../mail/dns.ts'
import { StartupError } from '../../../startup-error.ts'

const HOOK_MS = 60_000
const POLL_MS = 1000
const MAX_ALIASES = 8
const MAX_COMPLAINT = 300
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

type Settings = Pick<Config, 'ACME_DNS_HOOK' | 'ACME_DNS_ZONES'>

/** Stops the start if the program cannot be run. */
export function checkDnsHook({ ACME_DNS_HOOK: hook, ACME_DNS_ZONES: zones }: Settings): void {
  if (hook === undefined) return
  if (zones.length === 0) {
    throw new StartupError('ACME_DNS_HOOK needs ACME_DNS_ZONES, the zones that it can write to')
  }
  try {
    if (!isAbsolute(hook)) throw new Error('not an absolute path')
    accessSync(hook, constants.X_OK)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new StartupError(`ACME_DNS_HOOK ${hook} cannot be run (${code ?? message})`)
  }
}

/**
 * The record that proves a name over DNS-01, if the hook can write it: `_acme-challenge.NAME` or the
 * record that it is an alias of. With such an alias the owner of a zone lets this host prove its names.
 */
export async function challengeRecord(
  { ACME_DNS_HOOK, ACME_DNS_ZONES }: Settings,
  dns: Pick<DnsLookups, 'cname'>,
  name: string,
): Promise<string | undefined> {
  if (ACME_DNS_HOOK === undefined) return undefined
  let record = `_acme-challenge.${name}`
  for (let hops = 0; hops < MAX_ALIASES; hops++) {
    const [alias] = await dns.cname(record)
    if (alias === undefined) break
    record = alias
  }
  const isOurs = ACME_DNS_ZONES.some((zone) => record.endsWith(`.${zone}`))
  return isOurs && RECORD.test(record) ? record : undefined
}

// The record is an argument of the hook, and an alias of a tenant may contain any text.
const RECORD = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)+$/

type Needs = Pick<Core, 'withDns'> & { config: Settings & Pick<Config, 'ACME_DNS_WAIT'> }

/** Publishes a value with the hook and waits until the resolvers return it, or for ACME_DNS_WAIT. */
export async function addRecord({ config, withDns }: Needs, record: string, value: string) {
  await runHook(config, 'add', record, value)
  const until = Date.now() + config.ACME_DNS_WAIT * 1000
  while (Date.now() < until) {
    const values = await withDns((dns) => dns.txt(record)).catch((): string[] => [])
    if (values.includes(value)) return
    await sleep(POLL_MS)
  }
}

export const removeRecord = ({ config }: Pick<Needs, 'config'>, record: string, value: string) =>
  runHook(config, 'remove', record, value)

/** Runs `HOOK add|remove RECORD VALUE` without a shell and without our secrets in its environment. */
function runHook(
  { ACME_DNS_HOOK: hook }: Settings,
  verb: 'add' | 'remove',
  record: string,
  value: string,
): Promise<void> {
  if (hook === undefined) throw new Error('ACME_DNS_HOOK is not set')
  return new Promise((resolve, reject) => {
    const options = { env: { PATH }, cwd: '/', timeout: HOOK_MS, killSignal: 'SIGKILL' as const }
    execFile(hook, [verb, record, value], options, (error, _output, complaint) => {
      if (error === null) return resolve()
      const ending = error.killed ? 'did not end in time' : `ended with ${error.code}`
      const why = complaint.trim().slice(0, MAX_COMPLAINT)
      reject(new Error(`ACME_DNS_HOOK ${verb} ${record} ${ending}${why && `: ${why}`}`))
    })
  })
}

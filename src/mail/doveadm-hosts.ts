import type { Db } from '../database/database.ts'
import type { Vault } from '../lib/vault.ts'
import {
  type Doveadm,
  type DoveadmAnswer,
  DoveadmAway,
  type DoveadmCommand,
  NO_SUCH_USER,
  NOT_FOUND,
  TEMPORARY_FAILURE,
} from './doveadm.ts'
import {
  type DovecotHost,
  doveadmOf,
  dovecotHosts,
  hostsOfDomain,
  hostsOfLogins,
} from './mail-hosts.ts'

/** Commands that the proxies run besides the host of the mailbox: they have logins in their caches. */
const ALSO_ON_PROXIES = new Set(['authCacheFlush', 'reload'])
const IS_NOTHING_THERE = new Set<number | undefined>([NO_SUCH_USER, NOT_FOUND])

/** A command as one host runs it; `index` is its position in the request. */
interface Part {
  index: number
  host: DovecotHost
  command: DoveadmCommand
}

type HostAnswer = DoveadmAnswer & { away?: DoveadmAway }

/**
 * Sends each command to the host of its mailbox. Without hosts in the database there is one Dovecot. A host
 * that does not answer fails only the commands for its own mailboxes, with the status TEMPORARY_FAILURE.
 */
export const doveadmOfHosts = (single: Doveadm, db: Db, vault: Vault): Doveadm => ({
  get isConfigured() {
    return single.isConfigured
  },
  async run(commands, timeoutSeconds) {
    const hosts = commands.length === 0 ? [] : await dovecotHosts(db)
    if (hosts.length === 0) return single.run(commands, timeoutSeconds)
    const parts = await partsOf(db, hosts, commands)
    const answers: HostAnswer[][] = commands.map(() => [])
    const ask = async (host: DovecotHost) => {
      const own = parts.filter((part) => part.host === host)
      const given = await askHost(host, own, vault, timeoutSeconds)
      own.forEach(({ index }, at) => {
        answers[index]?.push(given[at] as HostAnswer)
      })
    }
    await Promise.all(hosts.filter((host) => parts.some((part) => part.host === host)).map(ask))
    const merged = answers.map((some, index) => mergedAnswer(some, commands[index]?.[0]))
    const away = merged.map((answer) => answer.away)
    if (away[0] && away.every(Boolean)) throw away[0]
    return merged
  },
})

async function askHost(
  host: DovecotHost,
  parts: readonly Part[],
  vault: Vault,
  timeoutSeconds: number | undefined,
): Promise<HostAnswer[]> {
  try {
    if (host.isAway) throw new DoveadmAway(`the mail host ${host.name} is away`)
    return await doveadmOf(host, vault).run(
      parts.map(({ command }) => command),
      timeoutSeconds,
    )
  } catch (error) {
    if (!(error instanceof DoveadmAway)) throw error
    return parts.map(() => ({ exitCode: TEMPORARY_FAILURE, type: 'away', away: error }))
  }
}

async function partsOf(
  db: Db,
  hosts: readonly DovecotHost[],
  commands: readonly DoveadmCommand[],
): Promise<Part[]> {
  const places = await hostsOfLogins(db, [...new Set(commands.flatMap(loginsOf))])
  const parts: Part[] = []
  for (const [index, command] of commands.entries()) {
    const [name, parameters] = command
    const logins = loginsOf(command)
    const mask = domainOf(command)
    const isForAll = logins.length === 0 && mask === undefined
    // A mailbox that was deleted has no place any more, but may have sessions.
    const isAnywhere = name === 'kick' && logins.some((login) => !places.has(login))
    const ids = new Set(
      mask === undefined ? logins.map((login) => places.get(login)) : await hostsOfDomain(db, mask),
    )
    for (const host of hosts) {
      const isOther = host.isBackend
        ? !isForAll && !isAnywhere && !ids.has(host.id)
        : !ALSO_ON_PROXIES.has(name)
      // A host that is away has no logins in its cache when it comes back: see the service.
      if (isOther || (host.isAway && (isForAll || ALSO_ON_PROXIES.has(name)))) continue
      const own = logins.filter((login) => !host.isBackend || places.get(login) === host.id)
      const isList = Array.isArray(parameters.user)
      parts.push({
        index,
        host,
        command: isList ? [name, { ...parameters, user: own }] : command,
      })
    }
  }
  return parts
}

/** The logins that a command names. A network may follow the mask of a login. */
function loginsOf([, { user, userMask, mask }, owner]: DoveadmCommand): string[] {
  const [masked] = [mask ?? []].flat()
  const named = [owner ?? user ?? userMask ?? masked ?? []].flat() as string[]
  return named.filter((login) => !login.includes('*'))
}

/** The domain of a mask such as `*@acme.example`. */
function domainOf([, { mask }]: DoveadmCommand): string | undefined {
  const [first = ''] = [mask ?? []].flat() as string[]
  return first.startsWith('*@') ? first.slice(2) : undefined
}

/** No answer means that no host has the mailbox, or that only hosts that are away would answer. */
function mergedAnswer(answers: readonly HostAnswer[], name = ''): HostAnswer {
  // A figure of the hosts that are there is better than none.
  const counted = name === 'who' ? answers.filter(({ away }) => !away) : answers
  const failed = counted.find(({ rows, exitCode }) => !rows && !IS_NOTHING_THERE.has(exitCode))
  if (failed) return failed
  const rows = counted.flatMap((answer) => answer.rows ?? [])
  const isAnswered = ALSO_ON_PROXIES.has(name) || counted.some((answer) => answer.rows)
  return isAnswered ? { rows } : (counted[0] ?? { exitCode: NO_SUCH_USER, type: 'exitCode' })
}

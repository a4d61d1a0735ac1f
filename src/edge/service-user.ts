import { chmodSync, chownSync, existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/index.ts'
import { StartupError } from '../startup-error.ts'

export interface ServiceUser {
  name: string
  uid: number
  gid: number
}

const USUAL = 'mailplane'
/** A start by root with a user leaves it on the data folder. */
const STICKY = 0o1000

/**
 * The user that serves: SVC_USER, or `mailplane` where this user exists. Undefined for root, and when
 * this process is not root and keeps its user.
 */
export function serviceUser({ SVC_USER }: Pick<Config, 'SVC_USER'>): ServiceUser | undefined {
  if (process.getuid?.() !== 0 || SVC_USER === 'root') return undefined
  const wanted = SVC_USER ?? USUAL
  const user = accountNamed(wanted)
  if (user?.uid === 0) return undefined
  if (user === undefined && SVC_USER !== undefined) {
    throw new StartupError(
      `SVC_USER ${SVC_USER} is not a user of this machine; create it with: useradd --system ${SVC_USER}`,
    )
  }
  return user
}

/**
 * The user that reads the files of the edge: SVC_USER, the one to whom a server of root has given the
 * data folder, or `mailplane`.
 */
export function edgeReader(config: Pick<Config, 'DATA_DIR' | 'SVC_USER'>): ServiceUser | undefined {
  const given = config.SVC_USER === undefined ? givenTo(config.DATA_DIR) : undefined
  return given ?? serviceUser(config)
}

function givenTo(dataDir: string): ServiceUser | undefined {
  const { uid, gid: group, mode } = statSync(dataDir)
  if (uid !== 0 || group === 0 || (mode & STICKY) === 0) return undefined
  return accounts().find(({ gid }) => gid === group)
}

/** The owner of files of root that an unprivileged container shows. */
export const NOBODY = 65_534

/**
 * Refuses the data folder of an ordinary user. The server of this user could not read the files of the
 * mail servers, and all mail would be refused.
 */
export function requireFolderOfRoot(dataDir: string): void {
  const owner = statSync(dataDir, { throwIfNoEntry: false })?.uid ?? 0
  if (owner === 0 || owner === NOBODY) return
  const name = accounts().find(({ uid }) => uid === owner)?.name ?? String(owner)
  throw new StartupError(
    `DATA_DIR ${dataDir} belongs to ${name}, whose server cannot use the mail servers; stop that server, start it with: sudo SVC_USER=${name} npm start, and run this command again`,
  )
}

function accountNamed(name: string): ServiceUser | undefined {
  return accounts().find((account) => account.name === name)
}

const accounts = (): ServiceUser[] =>
  readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))

/** Lets the service user read where a private edge is, and the log of its Postfix. */
export function giveEdgeFiles(edge: string, user: ServiceUser): void {
  for (const file of [join(edge, 'edge.env'), join(edge, 'log', 'mail.log')]) {
    if (!existsSync(file)) continue
    chownSync(file, 0, user.gid)
    chmodSync(file, 0o640)
  }
}

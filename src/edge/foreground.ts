import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from '../config/index.ts'
import type { Vault } from '../lib/vault.ts'
import { ensureServerCertificates } from '../mail/server-certificates.files.ts'
import { moduleUrl } from '../project.ts'
import { accountOf } from './accounts.ts'
import { ensureCertificate } from './certificate.ts'
import type { DatabaseAddress } from './database-role.ts'
import { environmentOf, writeEnvironment } from './edge.ts'
import { giveEdgeFiles, serviceUser } from './service-user.ts'
import type { EdgeSettings } from './settings.ts'
import { edgeSecrets, hostSettings } from './settings-of.ts'
import { compileSieve } from './sieve.ts'
import { makeFolders, writeConfiguration } from './write.ts'

interface Program {
  name: string
  command: string[]
  /** Mail passes without the virus scanner, so its end does not stop the others. */
  isOptional?: boolean
  /** Tried again until this is true. */
  canStart?: () => boolean
}

const RETRY_MS = 10_000
const STOP_MS = 20_000
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * Makes this machine a mail host with the standard ports and runs its servers in the foreground, for
 * a container that has nothing else. Ends when a signal arrives or one of the servers ends.
 */
export async function runForeground(
  given: { config: Config; vault: Vault; database: DatabaseAddress },
  services: string | undefined,
): Promise<number> {
  const edge = hostSettings(given)
  prepareHost(edge)
  tellServer(edge, given)
  await ensureServerCertificates(edge.folders.sni, [edge.tls.certificate])
  return untilOneEnds([...mailServers(edge), ...(services ? [ourServices(services)] : [])])
}

function prepareHost(edge: EdgeSettings): void {
  const { folders, tls } = edge
  if (!existsSync(tls.certificate)) {
    mkdirSync(dirname(tls.certificate), { recursive: true, mode: 0o700 })
    ensureCertificate(dirname(tls.certificate), edge.hostname)
  }
  writeConfiguration(edge)
  makeFolders(folders)
  // A killed container keeps this file, and its number is soon that of another process.
  rmSync(join(folders.dovecotRun, 'master.pid'), { force: true })
  giveFolder(dirname(folders.rspamdPid), '_rspamd')
  if (edge.antivirus) for (const path of CLAMAV_FOLDERS) giveFolder(path, 'clamav')
  compileSieve(folders.dovecotConfig)
}

/**
 * Writes the settings for a server in another container, which shares the network and the folder
 * `edge` of DATA_DIR. It does not see the folders and logs of this one.
 */
function tellServer(edge: EdgeSettings, { config, vault }: { config: Config; vault: Vault }): void {
  const environment = environmentOf(edge, edgeSecrets(vault).masterPassword)
  const shared = Object.entries(environment).filter(([name]) => !OF_THIS_MACHINE.test(name))
  const folder = join(config.DATA_DIR, 'edge')
  mkdirSync(folder, { recursive: true })
  // A container engine may give a new volume to another user; the helper trusts root alone.
  chownSync(folder, 0, 0)
  chmodSync(folder, 0o755)
  writeEnvironment(folder, Object.fromEntries(shared))
  const user = serviceUser(config)
  if (user === undefined) return
  giveEdgeFiles(folder, user)
  // The log ingestor follows the log of Postfix as the user of the service.
  chownSync(`${edge.folders.logs}/mail.log`, 0, user.gid)
  chmodSync(`${edge.folders.logs}/mail.log`, 0o640)
}

const OF_THIS_MACHINE = /_DIR$|_LOG_FILE$|^MONITOR_CLAMD$/

const CLAMAV_FOLDERS = ['/run/clamav', '/var/log/clamav']

function giveFolder(path: string, user: string): void {
  const { uid, gid } = accountOf(user)
  mkdirSync(path, { recursive: true, mode: 0o755 })
  chownSync(path, uid, gid)
}

const mailServers = ({ folders, antivirus }: EdgeSettings): Program[] => [
  {
    name: 'Rspamd',
    command: [
      'rspamd',
      '-f',
      '-c',
      `${folders.rspamdConfig}/rspamd.conf`,
      '-u',
      '_rspamd',
      '-g',
      '_rspamd',
    ],
  },
  { name: 'Dovecot', command: ['dovecot', '-F', '-c', `${folders.dovecotConfig}/dovecot.conf`] },
  {
    name: 'Postfix',
    command: ['/usr/lib/postfix/sbin/master', '-c', folders.postfixConfig, '-s'],
  },
  ...(antivirus
    ? [
        { name: 'freshclam', command: ['freshclam', '-d', '--foreground'], isOptional: true },
        {
          name: 'Clamd',
          command: ['clamd', '--foreground', '-c', `${folders.clamavConfig}/clamd.conf`],
          isOptional: true,
          canStart: () => hasSignatures(antivirus.database ?? folders.clamavData),
        },
      ]
    : []),
]

/** Clamd does not start before freshclam has downloaded a database. */
const hasSignatures = (folder: string): boolean =>
  existsSync(folder) && readdirSync(folder).some((name) => /\.(c[lv]d|[hn]db)$/.test(name))

/** Services that belong beside Postfix, such as the queue manager. */
const ourServices = (names: string): Program => ({
  name: 'Mailplane',
  command: [process.execPath, fileURLToPath(moduleUrl('main')), 'serve', '--services', names],
})

/** Returns the exit status: 0 after a signal, 1 when a server has ended by itself. */
function untilOneEnds(programs: readonly Program[]): Promise<number> {
  const children = new Set<ChildProcess>()
  let status: number | undefined
  return new Promise((resolve) => {
    const stop = (code: number) => {
      if (status !== undefined) return
      status = code
      for (const child of children) child.kill('SIGTERM')
      setTimeout(() => {
        for (const child of children) child.kill('SIGKILL')
      }, STOP_MS).unref()
      if (children.size === 0) resolve(code)
    }
    const start = (program: Program) => {
      if (status !== undefined) return
      const later = () => setTimeout(start, RETRY_MS, program).unref()
      if (program.canStart?.() === false) return later()
      const [file = '', ...args] = program.command
      const child = spawn(file, args, {
        env: program.name === 'Mailplane' ? process.env : { PATH, TZ: 'UTC', LANG: 'C' },
        stdio: ['ignore', 'inherit', 'inherit'],
      })
      children.add(child)
      const ended = (reason: string) => {
        if (!children.delete(child)) return
        if (status !== undefined) return children.size === 0 ? resolve(status) : undefined
        process.stderr.write(`mailplane: ${program.name} ended (${reason})\n`)
        if (program.isOptional) later()
        else stop(1)
      }
      child.once('error', (error) => ended(error.message))
      child.once('exit', (code, signal) => ended(String(signal ?? code)))
    }
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(0))
    for (const program of programs) start(program)
  })
}

import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { Config } from '../config/index.ts'
import { holdDataDir } from '../database/data-dir.ts'
import type { Vault } from '../lib/vault.ts'
import { ensureServerCertificates } from '../mail/server-certificates.files.ts'
import { StartupError } from '../startup-error.ts'
import { ensureCertificate } from './certificate.ts'
import { clamdAddress } from './clamav.ts'
import type { DatabaseAddress } from './database-role.ts'
import { requirePackages } from './packages.ts'
import { edgePlace, makeEdgePlace } from './place.ts'
import { areTaken, choosePorts } from './ports.ts'
import { within } from './processes.ts'
import { type EdgeServer, markWanted, restartIn, unmarkWanted } from './restart.ts'
import { running, startServers, stopServers } from './servers.ts'
import { edgeReader, giveEdgeFiles } from './service-user.ts'
import type { EdgeSettings } from './settings.ts'
import { edgeSecrets, type NamedHost, privateFolders, privateSettings } from './settings-of.ts'
import { compileSieve } from './sieve.ts'
import { makeFolders, writeConfiguration } from './write.ts'

export interface RunningEdge {
  folder: string
  settings: EdgeSettings
  /** The settings with which a server uses this edge. */
  environment: Record<string, string>
  caFile: string
  envFile: string
}

const START_TRIES = 3
/** A command waits this long for another one, or for the repair of a stopped server. */
const TURN_MS = 60_000

/** Starts the private edge of a data folder; restarts it if it is down or its settings changed. */
export async function edgeUp(
  config: Config,
  vault: Vault,
  database: DatabaseAddress,
  host?: NamedHost,
): Promise<RunningEdge> {
  requirePackages(config)
  const folder = makeEdgePlace(config.DATA_DIR)
  return alone(folder, async () => {
    const folders = privateFolders(folder)
    mkdirSync(`${folder}/tls`, { recursive: true })
    const all = running(folder, folders)
    let isUp = Object.keys(all).length > 0 && Object.values(all).every((pid) => pid !== undefined)
    // Servers that still run would block ports that the others need.
    if (!isUp) await stopServers(folder, folders)
    const tls = ensureCertificate(`${folder}/tls`, config.SVC_MAIL_HOSTNAME)
    const arrange = async () => {
      const ports = await choosePorts(`${folder}/ports.json`, isUp)
      const settings = privateSettings(
        { config, vault, database, ...(host && { host }) },
        folder,
        ports,
        tls,
      )
      return { settings, changed: writeConfiguration(settings) }
    }
    let { settings, changed } = await arrange()
    for (let tries = START_TRIES; !isUp || changed; tries -= 1) {
      await stopServers(folder, folders)
      makeFolders(folders)
      compileSieve(folders.dovecotConfig)
      await ensureServerCertificates(folders.sni, [config.EDGE_TLS_CERT, tls.certificate])
      try {
        await startServers(settings, folder)
        break
      } catch (error) {
        await stopServers(folder, folders)
        if (tries === 1 || !(await areTaken(settings.ports))) throw error
        // Another process took a port in the meantime: choose new ones and try again.
        isUp = false
        settings = (await arrange()).settings
      }
    }
    const environment = environmentOf(settings, edgeSecrets(vault).masterPassword)
    const envFile = writeEnvironment(folder, environment)
    const user = edgeReader(config)
    if (user) giveEdgeFiles(folder, user)
    markWanted(folder)
    return { folder, settings, environment, caFile: tls.certificate, envFile }
  })
}

/** Stops the edge; `remove` also deletes its mail, queue and ports. */
export async function edgeDown(dataDir: string, { remove = false } = {}): Promise<boolean> {
  const folder = edgePlace(dataDir)
  if (folder === undefined) return false
  await alone(folder, async () => {
    unmarkWanted(folder)
    await stopServers(folder, privateFolders(folder))
  })
  if (remove) {
    rmSync(folder, { recursive: true, force: true })
    rmSync(`${dataDir}/edge`, { recursive: true, force: true })
  }
  return true
}

/** Restarts one server of the edge with its present configuration. */
export async function edgeRestart(dataDir: string, server: EdgeServer): Promise<void> {
  const folder = edgePlace(dataDir)
  if (folder === undefined)
    throw new StartupError('there is no mail edge in DATA_DIR; start one with mailplane edge up')
  await restartEdge(folder, server)
}

/** Does not wait for another command, which may be about to stop the edge. */
export const restartEdge = (folder: string, server: EdgeServer): Promise<void> =>
  alone(folder, () => restartIn(folder, server), 0)

/** The process ids of the servers by name; undefined when no edge was ever started. */
export function edgeStatus(dataDir: string): Record<string, number | undefined> | undefined {
  const folder = edgePlace(dataDir)
  return folder === undefined ? undefined : running(folder, privateFolders(folder))
}

async function alone<Result>(
  folder: string,
  work: () => Promise<Result>,
  waitMs = TURN_MS,
): Promise<Result> {
  let hold: Awaited<ReturnType<typeof holdDataDir>>
  await within(waitMs, async () => {
    hold = await holdDataDir(folder)
    return hold !== undefined
  })
  if (!hold) throw new StartupError(`another command is at work on ${folder}; try again`)
  try {
    return await work()
  } finally {
    await hold.release()
  }
}

/** Writes the settings for the server; returns the path of the file. */
export function writeEnvironment(folder: string, environment: Record<string, string>): string {
  const file = `${folder}/edge.env`
  const lines = Object.entries(environment).map(([name, value]) => `${name}=${value}\n`)
  writeFileSync(`${file}.new`, lines.join(''), { mode: 0o600 })
  renameSync(`${file}.new`, file)
  return file
}

export const environmentOf = (edge: EdgeSettings, password: string): Record<string, string> => {
  const { ports, doveadmKey, master, folders, contentFilter, policies } = edge
  return {
    IMAP_HOST: '127.0.0.1',
    IMAP_PORT: String(ports.imaps),
    IMAP_TLS: 'true',
    IMAP_MASTER_USER: master.user,
    IMAP_MASTER_PASSWORD: password,
    SIEVE_HOST: '127.0.0.1',
    SIEVE_PORT: String(ports.sieve),
    DOVEADM_URL: `http://127.0.0.1:${ports.doveadm}`,
    DOVEADM_API_KEY: doveadmKey,
    POSTFIX_CONFIG_DIR: folders.postfixConfig,
    MAIL_LOG_FILE: `${folders.logs}/mail.log`,
    DOVECOT_LOG_FILE: `${folders.logs}/dovecot.log`,
    RSPAMD_LOG_FILE: `${folders.logs}/rspamd.log`,
    MAIL_REINJECT_HOST: '127.0.0.1',
    MAIL_REINJECT_PORT: String(ports.reinject),
    MAIL_FILTERED_PORT: String(ports.filtered),
    MAIL_SERVICE_PORT: String(ports.internal),
    CONTENT_FILTER_PORT: String(contentFilter?.port ?? ports.filter),
    ...(policies.ratePort && { POLICY_RATE_PORT: String(policies.ratePort) }),
    ...(policies.accessPort && { POLICY_ACCESS_PORT: String(policies.accessPort) }),
    ...(policies.authPort && { AUTH_POLICY_PORT: String(policies.authPort) }),
    RSPAMD_URL: `http://127.0.0.1:${ports.scanner}`,
    EDGE_DKIM_DIR: folders.dkim,
    EDGE_SNI_DIR: folders.sni,
    MONITOR_SMTP_HOST: '127.0.0.1',
    MONITOR_SMTP_PORT: String(ports.smtp),
    MONITOR_RSPAMD_URL: `http://127.0.0.1:${ports.controller}`,
    ...(edge.antivirus && { MONITOR_CLAMD: clamdAddress(edge) }),
  }
}

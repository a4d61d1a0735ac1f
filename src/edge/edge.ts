import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { Config } from '../config.ts'
import { holdDataDir } from '../database/data-dir.ts'
import type { Vault } from '../lib/vault.ts'
import { StartupError } from '../startup-error.ts'
import { keptCertificate } from './certificate.ts'
import type { DatabaseAddress } from './database-role.ts'
import { requirePackages } from './packages.ts'
import { edgePlace, makeEdgePlace } from './place.ts'
import { areTaken, keptPorts } from './ports.ts'
import { type EdgeServer, markWanted, restartIn, unmarkWanted } from './restart.ts'
import { running, startServers, stopServers } from './servers.ts'
import type { EdgeSettings } from './settings.ts'
import { edgeSecrets, privateFolders, privateSettings } from './settings-of.ts'
import { makeFolders, writeConfiguration } from './write.ts'

export interface RunningEdge {
  folder: string
  settings: EdgeSettings
  /** What a server needs to know to use it. */
  environment: Record<string, string>
  caFile: string
  envFile: string
}

const START_TRIES = 3

/** Starts a private edge under the data folder, or makes sure that the one there runs as it should. */
export async function edgeUp(
  config: Config,
  vault: Vault,
  database: DatabaseAddress,
): Promise<RunningEdge> {
  requirePackages()
  const folder = makeEdgePlace(config.DATA_DIR)
  return alone(folder, async () => {
    const folders = privateFolders(folder)
    mkdirSync(`${folder}/tls`, { recursive: true })
    const all = running(folder, folders)
    let isUp = Object.values(all).every((pid) => pid !== undefined)
    // Those that still run would keep the others from their ports.
    if (!isUp) await stopServers(folder, folders)
    const tls = keptCertificate(`${folder}/tls`, config.SVC_MAIL_HOSTNAME)
    const arrange = async () => {
      const ports = await keptPorts(`${folder}/ports.json`, isUp)
      const settings = privateSettings({ config, vault, database }, folder, ports, tls)
      return { settings, changed: writeConfiguration(settings) }
    }
    let { settings, changed } = await arrange()
    for (let tries = START_TRIES; !isUp || changed; tries -= 1) {
      await stopServers(folder, folders)
      makeFolders(folders)
      try {
        await startServers(settings, folder)
        break
      } catch (error) {
        await stopServers(folder, folders)
        if (tries === 1 || !(await areTaken(settings.ports))) throw error
        // Somebody was faster; whatever else is wrong fails again.
        isUp = false
        settings = (await arrange()).settings
      }
    }
    const environment = environmentOf(settings, edgeSecrets(vault).masterPassword)
    const envFile = `${folder}/edge.env`
    const lines = Object.entries(environment).map(([name, value]) => `${name}=${value}\n`)
    writeFileSync(`${envFile}.new`, lines.join(''), { mode: 0o600 })
    renameSync(`${envFile}.new`, envFile)
    markWanted(folder)
    return { folder, settings, environment, caFile: tls.certificate, envFile }
  })
}

/** Stops it; its mail, its queue and its ports stay, unless they are to go as well. */
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

/** Restarts one server of the edge; its configuration, its mail and the other servers stay. */
export async function edgeRestart(dataDir: string, server: EdgeServer): Promise<void> {
  const folder = edgePlace(dataDir)
  if (folder === undefined) throw new StartupError('there is no mail edge beside this server')
  await alone(folder, () => restartIn(folder, server))
}

/** The servers by name, with their process; undefined when there never was an edge. */
export function edgeStatus(dataDir: string): Record<string, number | undefined> | undefined {
  const folder = edgePlace(dataDir)
  return folder === undefined ? undefined : running(folder, privateFolders(folder))
}

async function alone<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  const hold = await holdDataDir(folder)
  if (!hold) throw new StartupError(`another command is at work on ${folder}; try again`)
  try {
    return await work()
  } finally {
    await hold.release()
  }
}

const environmentOf = (
  { ports, doveadmKey, master, folders, contentFilter }: EdgeSettings,
  password: string,
) => ({
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
  MAIL_REINJECT_HOST: '127.0.0.1',
  MAIL_REINJECT_PORT: String(ports.reinject),
  MAIL_FILTERED_PORT: String(ports.filtered),
  CONTENT_FILTER_PORT: String(contentFilter?.port ?? ports.filter),
  RSPAMD_URL: `http://127.0.0.1:${ports.scanner}`,
  EDGE_DKIM_DIR: folders.dkim,
  MONITOR_SMTP_HOST: '127.0.0.1',
  MONITOR_SMTP_PORT: String(ports.smtp),
  MONITOR_RSPAMD_URL: `http://127.0.0.1:${ports.controller}`,
})

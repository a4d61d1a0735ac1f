import { parseArgs } from 'node:util'
import { readConfig } from '../config/index.ts'
import { keptSecret, prepareDataDir } from '../database/data-dir.ts'
import {
  type DatabaseAddress,
  databaseAddress,
  edgePassword,
  ensureEdgeRole,
  forgetEdge,
} from '../edge/database-role.ts'
import { edgeDown, edgeStatus, edgeUp, type RunningEdge } from '../edge/edge.ts'
import { runForeground } from '../edge/foreground.ts'
import { requirePackages } from '../edge/packages.ts'
import { edgePlace } from '../edge/place.ts'
import { renderForHosts } from '../edge/render.ts'
import { requireFolderOfRoot } from '../edge/service-user.ts'
import { HOST_ROLES, type HostRole } from '../edge/settings.ts'
import type { NamedHost } from '../edge/settings-of.ts'
import { vault } from '../lib/vault.ts'
import { HOST_NAME } from '../mail/mail-hosts.ts'
import { upgradeDatabase } from '../upgrade.ts'
import { print } from './output.ts'
import { upgradeNotes } from './upgrade-notes.ts'
import { UsageError } from './usage.ts'
import { withDatabase } from './with-database.ts'

export async function edgeCommands([verb, ...args]: string[]): Promise<void> {
  switch (verb) {
    case 'up':
      return up(args)
    case 'down':
      return down(args)
    case 'status':
      return status(args)
    case 'render':
      return render(args)
    case 'run':
      return runHost(args)
    default:
      throw new UsageError('edge takes up, down, status, render or run')
  }
}

async function up(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { json: { type: 'boolean', default: false }, ...HOST_OPTIONS },
  })
  const host = hostOf(values)
  const { DATA_DIR, ...rest } = readConfig()
  requirePackages(rest)
  requireFolderOfRoot(DATA_DIR)
  const { config, sealing, database } = await prepare({ isNew: host === undefined })
  const edge = await edgeUp(config, sealing, database, host)
  if (values.json) print(described(edge), true)
  else process.stdout.write(readable(edge))
}

async function down(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: 'boolean', default: false },
      delete: { type: 'boolean', default: false },
    },
  })
  const existed = await edgeDown(readConfig().DATA_DIR, { remove: values.delete })
  if (values.json) print({ stopped: existed }, true)
  else process.stdout.write(existed ? 'The mail edge is stopped\n' : 'There is no mail edge\n')
}

async function status(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { json: { type: 'boolean', default: false } } })
  const servers = Object.entries(edgeStatus(readConfig().DATA_DIR) ?? {}).map(([server, pid]) => ({
    server,
    running: pid !== undefined,
    pid: pid ?? null,
  }))
  print(servers, values.json)
}

async function render(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      out: { type: 'string', default: 'edge-config' },
      json: { type: 'boolean', default: false },
      ...HOST_OPTIONS,
    },
  })
  const host = hostOf(values)
  const { config, sealing, database } = await prepare()
  const files = renderForHosts(
    { config, vault: sealing, database, ...(host && { host }) },
    values.out,
  )
  if (values.json) print({ out: values.out, files }, true)
  else process.stdout.write(`${files.length} files are in ${values.out}; begin with README.md\n`)
}

/** Runs the mail servers of this machine in the foreground; for containers. */
async function runHost(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { services: { type: 'string' } } })
  const { config, sealing, database } = await prepare()
  requirePackages(config)
  process.exit(await runForeground({ config, vault: sealing, database }, values.services))
}

const HOST_OPTIONS = {
  host: { type: 'string' },
  role: { type: 'string', multiple: true },
} as const

/** One of several hosts and its part; undefined for the only one. */
function hostOf({ host, role = [] }: { host?: string; role?: string[] }): NamedHost | undefined {
  if (host === undefined && role.length === 0) return undefined
  const roles = role.flatMap((list) => list.split(',')) as HostRole[]
  if (host === undefined || roles.length === 0)
    throw new UsageError('--host NAME and --role ROLE belong together')
  if (!HOST_NAME.test(host)) throw new UsageError(`${host} is not a name of a mail host`)
  const unknown = roles.find((one) => !HOST_ROLES.includes(one))
  if (unknown !== undefined)
    throw new UsageError(`${unknown} is not a role; there are ${HOST_ROLES.join(', ')}`)
  if (roles.includes('backend') && roles.length > 1)
    throw new UsageError('a backend has no other role')
  return { name: host, roles }
}

/** Migrates the database and creates the role of the mail servers. A new edge has no mail yet. */
async function prepare({ isNew = false } = {}) {
  const config = readConfig()
  // With a database elsewhere nothing else creates the folder of the root key.
  prepareDataDir(config.DATA_DIR)
  return withDatabase(async ({ sql }, target) => {
    const sealing = vault(config.SVC_SECRET_KEY ?? keptSecret(config.DATA_DIR, 'secret-key'))
    const password = edgePassword(sealing)
    const database: DatabaseAddress = databaseAddress(target, config.EDGE_DATABASE_URL, password)
    await upgradeDatabase(target, config, upgradeNotes)
    const statementFile = `${config.DATA_DIR}/edge-role.sql`
    await ensureEdgeRole(sql, target, { password, statementFile })
    if (isNew && edgePlace(config.DATA_DIR) === undefined) await forgetEdge(sql)
    return { config, sealing, database }
  })
}

const LISTENERS = [
  ...(['imap', 'imaps', 'pop3', 'pop3s', 'smtp', 'submission', 'smtps'] as const),
  ...(['internal', 'lmtp', 'sieve'] as const),
]

/** Listeners that one of several hosts has for the others. */
const OF_HOSTS = ['automatic', 'sync'] as const

const described = ({ settings, environment, caFile, envFile }: RunningEdge) => ({
  ...Object.fromEntries(
    [...LISTENERS, ...OF_HOSTS.filter(() => settings.host)].map((name) => [
      name,
      { host: '127.0.0.1', port: settings.ports[name] },
    ]),
  ),
  doveadm_url: environment.DOVEADM_URL,
  log_file: environment.MAIL_LOG_FILE,
  postfix_config_dir: environment.POSTFIX_CONFIG_DIR,
  ca_file: caFile,
  master_user: environment.IMAP_MASTER_USER,
  env_file: envFile,
})

const SECRET = /PASSWORD|KEY/

function readable({ settings, environment, envFile }: RunningEdge): string {
  const ports = LISTENERS.map((name) => `  ${name.padEnd(10)}  127.0.0.1:${settings.ports[name]}\n`)
  const variables = Object.entries(environment).map(
    ([name, value]) => `  ${name}=${SECRET.test(name) ? `(in ${envFile})` : value}\n`,
  )
  return `The mail edge runs:\n${ports.join('')}A server on the same DATA_DIR uses it as it is; another one needs:\n${variables.join('')}`
}

import { type ChildProcess, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { StartupError } from '../startup-error.ts'
import { keptSecret } from './data-dir.ts'
import { connect, EMBEDDED_NAME, type Target } from './database.ts'
import { isRoot, NOBODY, postgresBinaries } from './embedded-binaries.ts'
import { OWN_FOLDER, pidFile, worksIn } from './embedded-processes.ts'
import { keptPort } from './kept-port.ts'

interface EmbeddedServer {
  target: Target
  stop(): Promise<void>
}

interface EmbeddedOptions {
  interruption?: AbortSignal
  /** Connections that are needed at least. */
  connections?: number
}

const environment = { LC_ALL: 'C', TZ: 'UTC', PATH: process.env.PATH }

const MIN_CONNECTIONS = 200
const START_TRIES = 6
const RETRY_MS = 300

/**
 * Starts PostgreSQL in the data folder, which the caller has locked, and restarts it when it ends.
 * An interruption ends initdb, which may take longer on a slow machine than a stop may take.
 */
export async function startEmbedded(
  dataDir: string,
  report: (message: string) => void,
  { interruption, connections = MIN_CONNECTIONS }: EmbeddedOptions = {},
): Promise<EmbeddedServer> {
  const programs = postgresBinaries()
  const folder = join(dataDir, 'postgres')
  const password = keptSecret(dataDir, 'postgres-password')
  if (!existsSync(join(folder, 'PG_VERSION'))) {
    await initialize(programs, folder, password, interruption)
  }
  closeToOthers(folder)
  await endOrphans(folder)

  const logs = join(dataDir, 'logs')
  let port = await keptPort(dataDir, report)
  let stopping = false
  const start = async (tries: number): Promise<ChildProcess> => {
    try {
      return await launch(programs, folder, { port, logs, connections })
    } catch (error) {
      if (tries === 1) throw error
      // Processes of a killed server may take a while to end, or another program has taken the port.
      // Any other problem fails again.
      await sleep(RETRY_MS * 2 ** (START_TRIES - tries))
      port = await keptPort(dataDir, report)
      return start(tries - 1)
    }
  }
  let server = await start(START_TRIES)
  // Also when this process ends without `stop`.
  const leaveNoneBehind = () => server.kill('SIGINT')
  process.once('exit', leaveNoneBehind)
  let restart: Promise<void> | undefined
  const keepRunning = () =>
    server.once('exit', (code, signal) => {
      if (stopping) return
      report(`the embedded PostgreSQL ended unexpectedly (${signal ?? code}); starting it again`)
      restart = startAgain()
    })
  const startAgain = async () => {
    while (!stopping) {
      try {
        await endOrphans(folder)
        server = await launch(programs, folder, { port, logs, connections })
        keepRunning()
        return
      } catch {
        await sleep(1000)
      }
    }
  }
  keepRunning()

  const target = targetOf(folder, port, password)
  await createDatabase(target)
  return {
    target,
    async stop() {
      stopping = true
      await restart
      await stopChild(server)
      process.off('exit', leaveNoneBehind)
    },
  }
}

/** The address of the server of this folder; undefined if none is running. */
export function runningEmbedded(dataDir: string): Target | undefined {
  const folder = join(dataDir, 'postgres')
  const lines = pidFile(folder)
  const pid = Number(lines[0])
  if (lines[7]?.trim() !== 'ready' || !worksIn(pid, folder)) return undefined
  const password = readFileSync(join(dataDir, 'postgres-password'), 'utf8').trim()
  return targetOf(folder, Number(lines[3]), password)
}

/** The connection string that other programs on this machine can use. */
export const urlOf = (target: Target): string =>
  typeof target === 'string'
    ? target
    : `postgres://${EMBEDDED_NAME}:${target.password}@127.0.0.1:${target.port}/${EMBEDDED_NAME}`

// The path of a socket has at most 107 bytes; for longer ones the server is reached over loopback.
const targetOf = (folder: string, port: number, password: string): Target => ({
  host: Buffer.byteLength(folder) < 85 ? folder : '127.0.0.1',
  port,
  password,
})

/** Runs initdb in another folder and renames it, so that an interrupted first start leaves nothing. */
async function initialize(
  programs: string,
  folder: string,
  password: string,
  interruption?: AbortSignal,
): Promise<void> {
  interruption?.throwIfAborted()
  const unfinished = `${folder}.new`
  // An initdb of a killed process may still be running.
  await killAll(unfinished)
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished, { mode: 0o700 })
  if (isRoot) chownSync(unfinished, NOBODY, NOBODY)
  const passwordFile = openUnnamed(`${unfinished}-password`, password)
  const options = [
    ['--pgdata', OWN_FOLDER],
    ['--username', EMBEDDED_NAME],
    ['--pwfile', '/proc/self/fd/3'],
    ['--auth', 'scram-sha-256'],
    ['--encoding', 'UTF8'],
    ['--locale-provider', 'builtin'],
    ['--locale', 'C.UTF-8'],
  ]
  let ended: Promise<void> | undefined
  const end = () => {
    ended = killAll(unfinished)
  }
  interruption?.addEventListener('abort', end)
  try {
    await run(join(programs, 'initdb'), options.flat(), unfinished, passwordFile)
  } finally {
    interruption?.removeEventListener('abort', end)
    await ended
    closeSync(passwordFile)
  }
  rmSync(folder, { recursive: true, force: true })
  renameSync(unfinished, folder)
}

/**
 * PostgreSQL refuses a folder that its group may write, or others may read. Kubernetes opens every
 * folder of a volume with `fsGroup` to that group.
 */
function closeToOthers(folder: string): void {
  if ((statSync(folder).mode & 0o027) === 0) return
  try {
    chmodSync(folder, 0o700)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new StartupError(`${folder} must have the mode 0700, which cannot be set (${code})`)
  }
}

/** As root the server runs as the owner of its folder. */
function identityOf(folder: string): { uid?: number; gid?: number } {
  if (!isRoot) return {}
  const { uid, gid } = statSync(folder)
  return uid === 0 ? { uid: NOBODY, gid: NOBODY } : { uid, gid }
}

/** Opens an unlinked file, which only the child process that inherits it can read. */
function openUnnamed(path: string, text: string): number {
  writeFileSync(path, text, { mode: 0o600 })
  if (isRoot) chownSync(path, NOBODY, NOBODY)
  const file = openSync(path, 'r')
  rmSync(path)
  return file
}

function run(program: string, args: string[], cwd: string, file: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      ...identityOf(cwd),
      env: environment,
      stdio: ['ignore', 'ignore', 'pipe', file],
    })
    let complaint = ''
    child.stderr?.on('data', (chunk) => {
      complaint += chunk
    })
    child.once('error', (error) =>
      reject(new StartupError(`cannot run ${program}: ${error.message}`)),
    )
    child.once('exit', (code) =>
      code === 0
        ? resolve()
        : reject(new StartupError(`${program} failed: ${reasonIn(complaint)}`)),
    )
  })
}

/** The reason is in the lines before the messages about removing the data directory. */
const reasonIn = (complaint: string) =>
  complaint
    .trim()
    .split('\n')
    .filter((line) => !/removing (contents of )?data directory/.test(line))
    .slice(-2)
    .join('; ')

const MEGABYTE = 1024 * 1024

/** A sixteenth of the memory, between 128 and 512 MB. */
function bufferMegabytes(): number {
  const memory = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
  return Math.max(128, Math.min(512, Math.floor(memory / MEGABYTE / 16)))
}

async function launch(
  programs: string,
  folder: string,
  { port, logs, connections }: { port: number; logs: string; connections: number },
): Promise<ChildProcess> {
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '.',
    unix_socket_permissions: '0700',
    max_connections: Math.max(MIN_CONNECTIONS, connections),
    shared_buffers: `${bufferMegabytes()}MB`,
    // A query without a time locks every day of a divided table, with the indexes.
    max_locks_per_transaction: 256,
    // The default of 4 is for rotating disks and makes index scans look too expensive.
    random_page_cost: 1.1,
    timezone: 'UTC',
    log_timezone: 'UTC',
    jit: 'off',
    // The text of a failed statement may contain secrets.
    log_min_error_statement: 'panic',
  }
  const log = openLog(join(logs, 'postgres.log'))
  const child = spawn(
    join(programs, 'postgres'),
    [
      '-D',
      OWN_FOLDER,
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    // Its own process group: Ctrl-C must not stop it before the last request is done.
    {
      cwd: folder,
      ...identityOf(folder),
      env: environment,
      stdio: ['ignore', log, log],
      detached: true,
    },
  )
  closeSync(log)
  let failure: string | undefined
  child.once('error', (error) => {
    failure = error.message
  })
  child.once('exit', (code, signal) => {
    failure ??= `it ended with ${signal ?? code}`
  })
  while (failure === undefined) {
    const lines = pidFile(folder)
    if (Number(lines[0]) === child.pid && lines[7]?.trim() === 'ready') return child
    await sleep(10)
  }
  throw new StartupError(
    `the embedded PostgreSQL does not start: ${failure}; see ${join(logs, 'postgres.log')}`,
  )
}

const LOG_BYTES = 10 * 1024 * 1024

function openLog(file: string): number {
  if (existsSync(file) && statSync(file).size > LOG_BYTES) renameSync(file, `${file}.1`)
  return openSync(file, 'a', 0o600)
}

async function createDatabase(target: Target): Promise<void> {
  const sql = connect(target, { max: 1, database: 'postgres' })
  try {
    const [found] = await sql`select 1 from pg_database where datname = ${EMBEDDED_NAME}`
    if (!found) await sql.unsafe(`create database ${EMBEDDED_NAME}`)
  } finally {
    await sql.end()
  }
}

/**
 * Stops a server that outlived the process that started it; the folder is locked, so no other process
 * uses it. Removes the pid file, since its number may belong to an unrelated process by now. The file
 * of a server that cannot be stopped stays: it keeps a second server off the same files.
 */
export async function endOrphans(folder: string): Promise<void> {
  const postmaster = pidFile(folder)[0]
  for (const [signal, waitMs] of [
    ['SIGINT', 5000],
    ['SIGQUIT', 2000],
  ] as const) {
    if (worksIn(Number(postmaster), folder)) signalProcess(Number(postmaster), signal)
    if (await areGone(folder, waitMs)) break
  }
  await killAll(folder)
  if (worksIn(Number(postmaster), folder)) return
  rmSync(join(folder, 'postmaster.pid'), { force: true })
}

/** Kills all processes that work in the folder. */
async function killAll(folder: string): Promise<void> {
  for (const pid of workers(folder)) signalProcess(Number(pid), 'SIGKILL')
  await areGone(folder, 2000)
}

const workers = (folder: string): string[] =>
  readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && worksIn(pid, folder))

async function areGone(folder: string, waitMs: number): Promise<boolean> {
  for (const end = Date.now() + waitMs; workers(folder).length > 0; await sleep(20)) {
    if (Date.now() > end) return false
  }
  return true
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has ended already.
  }
}

/** Requests a fast shutdown, and an immediate one after eight seconds. */
async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGINT')
  const timer = setTimeout(() => child.kill('SIGQUIT'), 8000)
  await ended
  clearTimeout(timer)
}

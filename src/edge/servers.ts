import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { StartupError } from '../startup-error.ts'
import { answers } from './ports.ts'
import { runningFrom, signal, within, workersIn } from './processes.ts'
import type { EdgeSettings, Folders } from './settings.ts'

const START_MS = 45_000
const STOP_MS = 15_000
// Idle login processes of Dovecot would delay its end by seconds.
const LINGER_MS = 500

interface Server {
  name: string
  /** The server is a part of the edge while this file exists. */
  config: string
  pidFile: string
  log: string
  command: string[]
  /** Ports to wait for; all others are open before the program goes into the background. */
  listens: (keyof EdgeSettings['ports'])[]
  /** The program stays in the foreground, and thereby in the folder. */
  isForeground?: boolean
  startMs?: number
}

/** The servers that have a configuration. */
const serversOf = (folders: Folders): Server[] =>
  allServers(folders).filter(({ config }) => existsSync(config))

const allServers = (folders: Folders): Server[] => [
  {
    name: 'Rspamd',
    config: `${folders.rspamdConfig}/rspamd.conf`,
    pidFile: folders.rspamdPid,
    log: `${folders.logs}/rspamd.log`,
    command: [
      'rspamd',
      '-c',
      `${folders.rspamdConfig}/rspamd.conf`,
      '-u',
      '_rspamd',
      '-g',
      '_rspamd',
    ],
    listens: ['milter'],
  },
  {
    name: 'Postfix',
    config: `${folders.postfixConfig}/main.cf`,
    pidFile: `${folders.postfixQueue}/pid/master.pid`,
    log: `${folders.logs}/mail.log`,
    // master -w returns when it listens; `postfix start` would check the whole installation first.
    command: ['/usr/lib/postfix/sbin/master', '-c', folders.postfixConfig, '-w'],
    listens: [],
  },
  {
    name: 'Dovecot',
    config: `${folders.dovecotConfig}/dovecot.conf`,
    pidFile: `${folders.dovecotRun}/master.pid`,
    log: `${folders.logs}/dovecot.log`,
    command: ['dovecot', '-c', `${folders.dovecotConfig}/dovecot.conf`],
    listens: ['doveadm'],
  },
  {
    name: 'Clamd',
    config: `${folders.clamavConfig}/clamd.conf`,
    pidFile: `${folders.clamavData}/clamd.pid`,
    log: `${folders.logs}/clamd.log`,
    command: ['/usr/sbin/clamd', '-c', `${folders.clamavConfig}/clamd.conf`],
    listens: ['clamd'],
    isForeground: true,
    // Loading the whole database takes up to a minute.
    startMs: 120_000,
  },
]

/** The process ids of the servers in the folder, by name. */
export const running = (folder: string, folders: Folders): Record<string, number | undefined> =>
  Object.fromEntries(
    serversOf(folders).map(({ name, pidFile }) => [name, runningFrom(pidFile, folder)]),
  )

/** Starts all servers in parallel and waits until their ports answer. */
export async function startServers(edge: EdgeSettings, folder: string): Promise<void> {
  const starts = serversOf(edge.folders).map((server) => start(server, edge, folder))
  // Waits for all of them even after a failure, so that stopServers() finds every process.
  const failed = (await Promise.allSettled(starts)).find(({ status }) => status === 'rejected')
  if (failed) throw (failed as PromiseRejectedResult).reason
}

/** Starts one server; `name` is in lower case. */
export async function startServer(
  name: string,
  edge: Pick<EdgeSettings, 'folders' | 'ports'>,
  folder: string,
): Promise<void> {
  const server = serversOf(edge.folders).find((one) => one.name.toLowerCase() === name)
  if (!server) throw new StartupError(`there is no server ${name}`)
  await start(server, edge, folder)
}

async function start(
  server: Server,
  edge: Pick<EdgeSettings, 'ports'>,
  folder: string,
): Promise<void> {
  const { name, command, listens, pidFile, log, isForeground, startMs = START_MS } = server
  rmSync(pidFile, { force: true })
  let failure: string | undefined
  const ended = run(command, folder, isForeground).then((complaint) => {
    failure = isForeground ? complaint || 'it ended' : complaint
  })
  if (!isForeground) await ended
  const isUp = async () => {
    const isOpen = await Promise.all(listens.map((port) => answers(edge.ports[port])))
    return isOpen.every(Boolean) && runningFrom(pidFile, folder) !== undefined
  }
  const isSettled = async () => failure !== undefined || (await isUp())
  if ((await within(startMs, isSettled)) && failure === undefined) return
  const reason = failure || (existsSync(log) ? lastLine(readFileSync(log, 'utf8')) : '')
  throw new StartupError(`${name} does not start: ${reason || 'it gives no reason'}; see ${log}`)
}

/**
 * Runs a program until it ends or goes into the background; returns its error output if it fails. A
 * program in the foreground lives on when this process ends, so it gets no pipe to it.
 */
function run(
  [program = '', ...args]: string[],
  cwd: string,
  isForeground = false,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd,
      detached: true,
      env: {
        PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        TZ: 'UTC',
        LANG: 'C',
      },
      stdio: ['ignore', 'ignore', isForeground ? 'ignore' : 'pipe'],
    })
    if (isForeground) child.unref()
    let complaint = ''
    child.stderr?.setEncoding('utf8').on('data', (text) => {
      complaint += text
    })
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code) => {
      // The background processes may keep the pipe open.
      child.stderr?.destroy()
      resolve(code === 0 ? undefined : lastLine(complaint) || `it ended with ${code}`)
    })
  })
}

const lastLine = (text: string) => text.trim().split('\n').at(-1) ?? ''

/** Stops the servers by their pid files, then kills all remaining processes of the folder. */
export async function stopServers(folder: string, folders: Folders): Promise<void> {
  const masters = Object.values(running(folder, folders)).filter((pid) => pid !== undefined)
  for (const pid of masters) signal(pid, 'SIGTERM')
  const isEmpty = () => workersIn(folder).length === 0
  if (masters.length > 0 && (await within(LINGER_MS, isEmpty))) return
  // SIGKILL loses no mail: a message is either in a queue or not accepted yet. Repeated, because a
  // process may fork while the list is read.
  await within(STOP_MS, () => {
    const left = workersIn(folder)
    for (const pid of left) signal(pid, 'SIGKILL')
    return left.length === 0
  })
}

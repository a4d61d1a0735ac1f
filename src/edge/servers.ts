import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { StartupError } from '../startup-error.ts'
import { answers } from './ports.ts'
import { runningFrom, signal, within, workersIn } from './processes.ts'
import type { EdgeSettings, Folders } from './settings.ts'

const START_MS = 15_000
const STOP_MS = 1000
// Processes of Dovecot that wait for somebody to log in would keep it for seconds.
const LINGER_MS = 500

interface Server {
  name: string
  pidFile: string
  log: string
  command: string[]
  /** Ports that must answer; the others listen before their program goes into the background. */
  listens: (keyof EdgeSettings['ports'])[]
}

const serversOf = (folders: Folders): Server[] => [
  {
    name: 'Rspamd',
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
    pidFile: `${folders.postfixQueue}/pid/master.pid`,
    log: `${folders.logs}/mail.log`,
    // Directly, and back once it listens; `postfix start` would look at everything first.
    command: ['/usr/lib/postfix/sbin/master', '-c', folders.postfixConfig, '-w'],
    listens: [],
  },
  {
    name: 'Dovecot',
    pidFile: `${folders.dovecotRun}/master.pid`,
    log: `${folders.logs}/dovecot.log`,
    command: ['dovecot', '-c', `${folders.dovecotConfig}/dovecot.conf`],
    listens: ['doveadm'],
  },
]

/** Which of the three run in that folder, by name. */
export const running = (folder: string, folders: Folders): Record<string, number | undefined> =>
  Object.fromEntries(
    serversOf(folders).map(({ name, pidFile }) => [name, runningFrom(pidFile, folder)]),
  )

/** All at once; back when every port answers. */
export async function startServers(edge: EdgeSettings, folder: string): Promise<void> {
  const starts = serversOf(edge.folders).map((server) => start(server, edge, folder))
  // Also when one has failed: who stops the others must find them, and not what is about to be them.
  const failed = (await Promise.allSettled(starts)).find(({ status }) => status === 'rejected')
  if (failed) throw (failed as PromiseRejectedResult).reason
}

/** One of them, by its name in lower case. */
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
  const { name, command, listens, pidFile, log } = server
  rmSync(pidFile, { force: true })
  const failure = await run(command, folder)
  const open = async () => {
    const answered = await Promise.all(listens.map((port) => answers(edge.ports[port])))
    return answered.every(Boolean) && runningFrom(pidFile, folder) !== undefined
  }
  if (failure === undefined && (await within(START_MS, open))) return
  const said = failure || (existsSync(log) ? lastLine(readFileSync(log, 'utf8')) : '')
  throw new StartupError(`${name} does not start: ${said || 'it says nothing'}; see ${log}`)
}

/** The programs put themselves into the background; what they say before is why they do not. */
function run([program = '', ...args]: string[], cwd: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd,
      detached: true,
      env: {
        PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        TZ: 'UTC',
        LANG: 'C',
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let complaint = ''
    child.stderr.setEncoding('utf8').on('data', (text) => {
      complaint += text
    })
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code) => {
      // Those in the background may hold on to it.
      child.stderr.destroy()
      resolve(code === 0 ? undefined : lastLine(complaint) || `it ended with ${code}`)
    })
  })
}

const lastLine = (text: string) => text.trim().split('\n').at(-1) ?? ''

/** By their own pid files; then what they have left behind in the folder, which is nobody else's. */
export async function stopServers(folder: string, folders: Folders): Promise<void> {
  const masters = Object.values(running(folder, folders)).filter((pid) => pid !== undefined)
  for (const pid of masters) signal(pid, 'SIGTERM')
  const isEmpty = () => workersIn(folder).length === 0
  if (masters.length > 0 && (await within(LINGER_MS, isEmpty))) return
  // Mail under way is in a queue or not accepted yet; nothing is lost with those who wait. Again and
  // again: one that was just being looked for may have made another.
  await within(STOP_MS, () => {
    const left = workersIn(folder)
    for (const pid of left) signal(pid, 'SIGKILL')
    return left.length === 0
  })
}

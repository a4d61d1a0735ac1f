import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Options, send } from './http.ts'
import { waitFor } from './wait.ts'

/** The program as it ships. */
export const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
/** Node compiles the modules of the program once for all tests. */
const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url))

export type Server = Awaited<ReturnType<typeof startServer>>

interface Start {
  dataDir: string
  env?: Record<string, string>
  args?: string[]
  /** The checkout to run; default is this one. */
  main?: string
  uid?: number
  umask?: string
  /** A program that runs the server, such as setpriv with its options. */
  through?: string[]
  /** The server takes the ports of its private edge instead of ports of its own. */
  hasEdge?: boolean
}

const OWN_PORTS = [
  'POLICY_RATE_PORT',
  'POLICY_ACCESS_PORT',
  'AUTH_POLICY_PORT',
  'CONTENT_FILTER_PORT',
]
// Between the ports of an edge and 20,000, where `freePort` begins; each process has its own range.
const FIRST_PORT = 10_600
const PORTS = 20
const RANGES = 470
let portsTaken = 0

/** Ports for the mail servers that no other test server uses. */
const ownPorts = () =>
  Object.fromEntries(
    OWN_PORTS.map((name) => {
      const range = FIRST_PORT + (process.pid % RANGES) * PORTS
      return [name, String(range + (portsTaken++ % PORTS))]
    }),
  )

const children = new Set<ChildProcess>()
const folders: string[] = []

/** Creates a folder that cleanUp removes. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mailplane-faults-')))
  folders.push(folder)
  return folder
}

/** Stops the processes that a test left running and removes its folders. For afterEach. */
export async function cleanUp(): Promise<void> {
  for (const child of children) child.kill('SIGKILL')
  for (const folder of folders.splice(0)) {
    for (const pid of workersIn(folder)) kill(pid)
    await until(() => workersIn(folder).length === 0)
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Starts the real server in its own process. */
export function spawnServer(start: Start) {
  const { dataDir, env = {}, args = [], main = MAIN, uid, umask, hasEdge = false } = start
  const command = [...(start.through ?? []), process.execPath, main, 'serve', ...args]
  const [program = '', ...rest] = umask
    ? ['/bin/sh', '-c', `umask ${umask}; exec "$@"`, 'sh', ...command]
    : command
  const child = spawn(program, rest, {
    env: {
      PATH: process.env.PATH,
      HOME: dataDir,
      DATA_DIR: dataDir,
      PORT: '0',
      // The same number of processes on every machine.
      SVC_WORKERS: '1',
      SVC_HASHING_COST: 'lowest',
      NODE_COMPILE_CACHE: COMPILED,
      ...(!hasEdge && ownPorts()),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  })
  children.add(child)
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    output.stderr += text
  })
  const ended = once(child, 'close').then(([code, signal]) => {
    children.delete(child)
    return { code: code as number | null, signal: signal as string | null, ...output }
  })
  const base = () => /ready at (http:\S+)/.exec(output.stdout)?.[1] ?? ''
  return {
    dataDir,
    output,
    ended,
    pid: child.pid as number,
    signal: (signal: NodeJS.Signals) => child.kill(signal),
    isRunning: () => child.exitCode === null && child.signalCode === null,
    get base() {
      return base()
    },
    send: (method: string, path: string, options?: Options) => send(base(), method, path, options),
    health: () => send(base(), 'GET', '/health'),
    async stop() {
      child.kill('SIGTERM')
      return ended
    },
    /** Kills the server and its PostgreSQL at once, like a power cut. */
    async killEverything() {
      const pids = workersIn(dataDir)
      child.kill('SIGKILL')
      for (const pid of pids) kill(pid)
      await ended
    },
    async killNode() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

export async function startServer(start: Start) {
  const server = spawnServer(start)
  await until(() => server.base !== '' || !server.isRunning())
  if (server.base === '') {
    throw new Error(`the server did not start: ${(await server.ended).stderr}`)
  }
  return server
}

/** Runs one command of the command line to its end; `main` as for a server. */
export async function run(args: string[], env: Record<string, string>, main = MAIN) {
  const child = spawn(process.execPath, [main, ...args], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: COMPILED, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.add(child)
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text
  })
  const [code] = await once(child, 'close')
  children.delete(child)
  return { code: code as number, stdout, stderr }
}

/** Processes with this working folder or one inside it: the embedded PostgreSQL. */
export function workersIn(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const place = readlinkSync(`/proc/${pid}/cwd`)
        return place === folder || place.startsWith(`${folder}/`)
      } catch {
        return false
      }
    })
}

export async function until(
  condition: () => boolean | Promise<boolean>,
  withinMs = 240_000,
): Promise<void> {
  await waitFor(condition, withinMs)
}

export function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has already ended.
  }
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Options, send } from './http.ts'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

export type Server = Awaited<ReturnType<typeof startServer>>

interface Start {
  dataDir: string
  env?: Record<string, string>
  args?: string[]
  /** Another checkout than this one. */
  main?: string
  uid?: number
  umask?: string
}

const children = new Set<ChildProcess>()
const folders: string[] = []

/** A folder that is removed by cleanUp. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mailplane-faults-')))
  folders.push(folder)
  return folder
}

/** Ends what a test has left running, and removes its folders. For afterEach. */
export async function cleanUp(): Promise<void> {
  for (const child of children) child.kill('SIGKILL')
  for (const folder of folders.splice(0)) {
    for (const pid of workersIn(folder)) kill(pid)
    await until(() => workersIn(folder).length === 0)
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The real server in a process of its own. */
export function spawnServer({ dataDir, env = {}, args = [], main = MAIN, uid, umask }: Start) {
  const command = [process.execPath, main, 'serve', ...args]
  const [program = '', ...rest] = umask
    ? ['/bin/sh', '-c', `umask ${umask}; exec "$@"`, 'sh', ...command]
    : command
  const child = spawn(program, rest, {
    env: { PATH: process.env.PATH, HOME: dataDir, DATA_DIR: dataDir, PORT: '0', ...env },
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
    /** As a power cut would: the server and its PostgreSQL, all in one moment. */
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

/** One command of the command line, to its end. */
export async function run(args: string[], env: Record<string, string>) {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env.PATH, ...env },
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

/** Processes whose working folder is this one or lies in it: the embedded PostgreSQL's. */
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
  withinMs = 30_000,
): Promise<void> {
  const end = Date.now() + withinMs
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`not so within ${withinMs} ms: ${condition}`)
    await sleep(10)
  }
}

export function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It ended by itself.
  }
}

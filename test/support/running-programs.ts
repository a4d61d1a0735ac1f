import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** PostgreSQL and pgbouncer refuse to run as root. */
const UNPRIVILEGED = 65_534
export const user = process.getuid?.() === 0 ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {}

export type Programs = ReturnType<typeof openPrograms>

/** Programs of other projects, each with its files in one folder that is removed at the end. */
export function openPrograms() {
  const folder = mkdtempSync(join(tmpdir(), 'mailplane-cluster-'))
  chmodSync(folder, 0o700)
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid)
  const running = new Set<ChildProcess>()
  const options = {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, LC_ALL: 'C.UTF-8' },
    ...user,
  }
  return {
    folder,
    /** Options that every program is started with. */
    options,
    start(program: string, args: string[], env: Record<string, string> = {}) {
      const child = spawn(program, args, {
        ...options,
        env: { ...options.env, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let output = ''
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          output = (output + text).slice(-20_000)
        })
      }
      running.add(child)
      const ended = once(child, 'close').then(() => running.delete(child))
      return {
        pid: child.pid as number,
        output: () => output,
        isRunning: () => running.has(child),
        async kill(signal: NodeJS.Signals = 'SIGKILL') {
          child.kill(signal)
          await ended
        },
      }
    },
    async stop() {
      for (const child of running) child.kill('SIGKILL')
      await Promise.all([...running].map((child) => once(child, 'close')))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

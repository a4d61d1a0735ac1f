import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from '../config/index.ts'
import { holdDataDir, inUse, prepareDataDir } from '../database/data-dir.ts'
import { endOrphans } from '../database/embedded.ts'
import type { ServiceUser } from '../edge/service-user.ts'
import { moduleUrl } from '../project.ts'
import { startHelper } from './helper.ts'
import { giveDataDir, requireReachable } from './ownership.ts'

const MAIN = fileURLToPath(moduleUrl('main'))

/**
 * Serves in a child process of the user, while this process stays root and is only the helper. Ends
 * with the child. If this process is killed, the child notices the closed channel and stops.
 */
export async function serveAsUser(
  config: Config,
  user: ServiceUser,
  args: readonly string[],
): Promise<void> {
  prepareDataDir(config.DATA_DIR)
  requireReachable([config.DATA_DIR, MAIN, process.execPath], user)
  await handOver(config, user)
  const folder = mkdtempSync('/tmp/mailplane-helper-')
  // The folder stays root's: the user must not replace the socket before its owner is set.
  chmodSync(folder, 0o711)
  const socket = join(folder, 'helper')
  const helper = await startHelper(config, socket, user, { canRestart: true })
  const child = spawn(process.execPath, [...process.execArgv, MAIN, 'serve', ...args], {
    uid: user.uid,
    gid: user.gid,
    env: { ...process.env, SVC_HELPER_SOCKET: socket, USER: user.name, LOGNAME: user.name },
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => child.kill(signal))
  }
  // The launcher that started this process has ended.
  process.on('disconnect', () => child.kill('SIGTERM'))
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (status) => resolve(status ?? 1))
  })
  await helper.stop()
  rmSync(folder, { recursive: true, force: true })
  process.exit(code)
}

/**
 * Gives the data folder to the user. A PostgreSQL that an earlier start as root has left runs as
 * another user: the server could neither see nor stop it.
 */
async function handOver(config: Config, user: ServiceUser): Promise<void> {
  if (config.DATABASE_URL !== undefined) return giveDataDir(config.DATA_DIR, user)
  const hold = await holdDataDir(config.DATA_DIR)
  if (!hold) throw inUse(config.DATA_DIR)
  try {
    const folder = join(config.DATA_DIR, 'postgres')
    if (existsSync(folder)) await endOrphans(folder)
    giveDataDir(config.DATA_DIR, user)
  } finally {
    await hold.release()
  }
}

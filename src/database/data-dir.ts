import {
  accessSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { randomToken } from '../lib/tokens.ts'
import { StartupError } from '../startup-error.ts'

/** Makes the folder if need be and says plainly when it cannot be used. */
export function prepareDataDir(dataDir: string): void {
  try {
    mkdirSync(join(dataDir, 'logs'), { recursive: true, mode: 0o700 })
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
    accessSync(join(dataDir, 'logs'), constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new StartupError(`DATA_DIR ${dataDir} cannot be read and written (${code})`)
  }
}

/** A secret that is made on the first start and kept in a file only its owner can read. */
export function keptSecret(dataDir: string, name: string): string {
  const file = join(dataDir, name)
  if (!existsSync(file)) {
    // Written aside and linked: whoever is killed here leaves no empty file behind.
    const unfinished = `${file}.${process.pid}`
    try {
      writeFileSync(unfinished, randomToken(), { mode: 0o600, flush: true })
      linkSync(unfinished, file)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'EEXIST') throw new StartupError(`${file} cannot be written (${code})`)
    } finally {
      rmSync(unfinished, { force: true })
    }
  }
  const secret = readFileSync(file, 'utf8').trim()
  if (secret === '') throw new StartupError(`${file} is empty; restore it from a backup`)
  return secret
}

/**
 * Holds the folder for this process. The lock is a socket in Linux's abstract namespace: taken
 * atomically, and gone with the process however it ends. The inode names the folder, whatever
 * path leads to it.
 */
export async function holdDataDir(
  dataDir: string,
): Promise<{ release(): Promise<void> } | undefined> {
  const { dev, ino } = statSync(dataDir)
  const server = createServer((socket) => socket.destroy())
  const held = await new Promise<boolean>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    )
    server.listen(`\0mailplane-data:${dev}:${ino}`, () => resolve(true))
  })
  if (!held) return undefined
  server.unref()
  return { release: () => new Promise((resolve) => server.close(() => resolve())) }
}

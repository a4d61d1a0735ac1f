import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { randomToken } from '../lib/tokens.ts'
import { StartupError } from '../startup-error.ts'

/** Creates the data folder if it is missing and checks that it can be used. */
export function prepareDataDir(dataDir: string): void {
  try {
    mkdirSync(join(dataDir, 'logs'), { recursive: true, mode: 0o700 })
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
    accessSync(join(dataDir, 'logs'), constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new StartupError(
      `DATA_DIR ${dataDir} cannot be read and written (${code})${adviceFor(dataDir)}`,
    )
  }
}

/** A folder of root that was never given to a user: `edge up` or an earlier start made it. */
function adviceFor(dataDir: string): string {
  const folder = statSync(dataDir, { throwIfNoEntry: false })
  if (process.getuid?.() === 0 || folder?.uid !== 0 || folder.gid !== 0) return ''
  return `; it belongs to root, start it with: sudo SVC_USER=${userInfo().username} npm start`
}

/** A secret that is created on the first start and stored in a file that only its owner can read. */
export function keptSecret(dataDir: string, name: string): string {
  const file = join(dataDir, name)
  if (!existsSync(file)) {
    // Written to another file and linked, so that a process killed here leaves no empty file.
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
 * Locks the folder for this process; undefined when another process has the lock. The lock is two
 * sockets, which the kernel closes however the process ends. The socket in Linux's abstract namespace
 * is named after the inode of the folder and bound atomically. Containers that share a folder have
 * different namespaces, so a second socket is in the folder itself.
 */
export async function holdDataDir(
  dataDir: string,
): Promise<{ release(): Promise<void> } | undefined> {
  const { dev, ino } = statSync(dataDir)
  const first = await listenOn(`\0mailplane-data:${dev}:${ino}`)
  if (!first) return undefined
  // Through a descriptor: the path of the folder may be longer than a socket name can be.
  const folder = openSync(dataDir, 'r')
  try {
    const path = `/proc/self/fd/${folder}/mailplane.lock`
    const second = (await answers(path)) ? undefined : await listenAgain(path)
    if (!second) {
      await close(first)
      return undefined
    }
    return {
      async release() {
        await close(second)
        await close(first)
        closeSync(folder)
      },
    }
  } catch (error) {
    closeSync(folder)
    throw error
  }
}

export const inUse = (dataDir: string) =>
  new StartupError(
    `DATA_DIR ${dataDir} is in use by another Mailplane; stop it, choose another folder, or set DATABASE_URL to share a database`,
  )

async function listenOn(address: string): Promise<Server | undefined> {
  const server = createServer((socket) => socket.destroy())
  const held = await new Promise<boolean>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    )
    server.listen(address, () => resolve(true))
  })
  return held ? server.unref() : undefined
}

/** True if no process accepts connections: a killed process has left the file. */
async function listenAgain(path: string): Promise<Server | undefined> {
  rmSync(path, { force: true })
  return listenOn(path)
}

const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })

const close = (server: Server): Promise<void> =>
  new Promise((resolve) => server.close(() => resolve()))

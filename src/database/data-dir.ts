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
 * Holds the folder for this process; undefined when another process has it. Two sockets together are
 * the lock, and both are gone with the process, however it ends. The one in Linux's abstract
 * namespace is taken atomically, under the folder's inode; but containers that share a folder have
 * a namespace each. They meet at the one in the folder itself.
 */
export async function holdDataDir(
  dataDir: string,
): Promise<{ release(): Promise<void> } | undefined> {
  const { dev, ino } = statSync(dataDir)
  const first = await listenOn(`\0mailplane-data:${dev}:${ino}`)
  if (!first) return undefined
  // By way of a descriptor: a path may be longer than the address of a socket can be.
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

/** Nobody answers there: the file is what a killed process left behind. */
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

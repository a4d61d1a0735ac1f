import { existsSync } from 'node:fs'
import {
  chmod,
  chown,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { limiter } from '../lib/mutex.ts'
import type { CurrentMailServers } from './mail-servers.ts'
import type { SigningKey, SigningKeys } from './signing-keys.ts'

/** Maps each domain to its active selector. */
export const SELECTORS_FILE = 'selectors.map'
export const keyFile = (folder: string, domain: string, selector: string) =>
  join(folder, 'keys', domain, `${selector}.key`)

// Domain and selector become parts of a path.
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/

/** Writes the keys into the folder that Rspamd reads, with the owner of that folder. */
export function signingKeysInFiles(mailServers: CurrentMailServers): SigningKeys {
  const inTurn = limiter(1)
  // The complete list, because every write replaces the whole file.
  let cached: { folder: string; selectors: Map<string, string> } | undefined

  async function selectorsIn(folder: string): Promise<Map<string, string>> {
    if (cached?.folder !== folder) cached = { folder, selectors: await readList(folder) }
    return cached.selectors
  }

  return {
    get isConfigured() {
      return existsSync(mailServers.current().EDGE_DKIM_DIR)
    },
    publish: (domain, keys, signing) =>
      inTurn(async () => {
        const folder = mailServers.current().EDGE_DKIM_DIR
        if (![domain, ...keys.map(({ selector }) => selector)].every((name) => NAME.test(name))) {
          throw new Error(`${domain} cannot be the name of a file`)
        }
        const owner = await stat(folder)
        for (const key of keys) await writeKey(folder, domain, key, owner)
        const selectors = await selectorsIn(folder)
        if (selectors.get(domain) !== signing) {
          if (signing === undefined) selectors.delete(domain)
          else selectors.set(domain, signing)
          await writeList(folder, selectors, owner)
        }
        await removeOthers(folder, domain, keys)
      }),
    domains: () =>
      inTurn(async () => {
        const folder = mailServers.current().EDGE_DKIM_DIR
        // A full comparison follows, so the files count and not the cached list.
        cached = undefined
        const listed = (await selectorsIn(folder)).keys()
        const withKeys = await readdir(join(folder, 'keys')).catch(() => [])
        return [...new Set([...listed, ...withKeys])]
      }),
    close: async () => {},
  }
}

interface Owner {
  uid: number
  gid: number
}

async function writeKey(folder: string, domain: string, key: SigningKey, owner: Owner) {
  const file = keyFile(folder, domain, key.selector)
  const present = await readFile(file, 'utf8').catch(() => undefined)
  if (present === key.privateKey) return
  for (const path of [join(folder, 'keys'), join(folder, 'keys', domain)]) {
    await mkdir(path, { recursive: true, mode: 0o700 })
    await give(path, owner)
  }
  await writeWhole(file, key.privateKey, 0o600, owner)
}

async function removeOthers(folder: string, domain: string, keys: readonly SigningKey[]) {
  const own = join(folder, 'keys', domain)
  const current = keys.map(({ selector }) => `${selector}.key`)
  for (const name of await readdir(own).catch(() => [])) {
    if (!current.includes(name)) await rm(join(own, name), { force: true })
  }
  if (keys.length === 0) await rm(own, { recursive: true, force: true })
}

async function readList(folder: string): Promise<Map<string, string>> {
  const text = await readFile(join(folder, SELECTORS_FILE), 'utf8').catch(() => '')
  const lines = text.split('\n').filter((line) => line !== '')
  return new Map(lines.map((line) => line.split(' ', 2) as [string, string]))
}

const writeList = (folder: string, selectors: Map<string, string>, owner: Owner) => {
  const lines = [...selectors].sort().map(([domain, selector]) => `${domain} ${selector}\n`)
  return writeWhole(join(folder, SELECTORS_FILE), lines.join(''), 0o600, owner)
}

/** Writes a temporary file and renames it, so that Rspamd never reads a partial file. */
async function writeWhole(file: string, text: string, mode: number, owner: Owner): Promise<void> {
  const unfinished = `${file}.${process.pid}.new`
  await writeFile(unfinished, text, { mode })
  await chmod(unfinished, mode)
  await give(unfinished, owner)
  await rename(unfinished, file)
}

/** Only root can change the owner to the user of Rspamd. */
const give = async (path: string, { uid, gid }: Owner) => {
  if (process.getuid?.() === 0) await chown(path, uid, gid)
}

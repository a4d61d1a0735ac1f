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
import type { Config } from '../config.ts'
import { limiter } from '../lib/mutex.ts'
import type { SigningKey, SigningKeys } from './signing-keys.ts'

/** The list of which selector signs for which domain. */
export const SELECTORS_FILE = 'selectors.map'
export const keyFile = (folder: string, domain: string, selector: string) =>
  join(folder, 'keys', domain, `${selector}.key`)

// Both are part of a path.
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/

/** In the folder of the mail host that Rspamd reads, which belongs to its user. */
export function signingKeysInFiles(config: Pick<Config, 'EDGE_DKIM_DIR'>): SigningKeys {
  const inTurn = limiter(1)
  // Every process knows all domains, so that whoever writes the list last leaves nobody out.
  let known: { folder: string; selectors: Map<string, string> } | undefined

  async function selectorsIn(folder: string): Promise<Map<string, string>> {
    if (known?.folder !== folder) known = { folder, selectors: await readList(folder) }
    return known.selectors
  }

  return {
    get isConfigured() {
      return existsSync(config.EDGE_DKIM_DIR)
    },
    publish: (domain, keys, signing) =>
      inTurn(async () => {
        const folder = config.EDGE_DKIM_DIR
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
        const folder = config.EDGE_DKIM_DIR
        // Asked before everything is compared: what is there counts, not what we once wrote.
        known = undefined
        const named = (await selectorsIn(folder)).keys()
        const kept = await readdir(join(folder, 'keys')).catch(() => [])
        return [...new Set([...named, ...kept])]
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
  const wanted = keys.map(({ selector }) => `${selector}.key`)
  for (const name of await readdir(own).catch(() => [])) {
    if (!wanted.includes(name)) await rm(join(own, name), { force: true })
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

/** Aside and moved into place: Rspamd never reads half of it, and who is killed here leaves none. */
async function writeWhole(file: string, text: string, mode: number, owner: Owner): Promise<void> {
  const unfinished = `${file}.${process.pid}.new`
  await writeFile(unfinished, text, { mode })
  await chmod(unfinished, mode)
  await give(unfinished, owner)
  await rename(unfinished, file)
}

/** Rspamd's user has the folder; only root can give something to it. */
const give = async (path: string, { uid, gid }: Owner) => {
  if (process.getuid?.() === 0) await chown(path, uid, gid)
}

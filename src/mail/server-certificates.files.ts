import { execFile } from 'node:child_process'
import { createHash, createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ServerCertificate } from './server-certificates.ts'

const run = promisify(execFile)
const PATH = '/usr/sbin:/usr/bin:/sbin:/bin'
const POSTMAP_MS = 30_000

/** The table of Postfix, without the suffix of its database file. */
export const SNI_MAP = 'names'
/** The part of the configuration of Dovecot. */
export const SNI_BLOCKS = 'dovecot.conf'

// Names become parts of a path and of configuration files.
const DOMAIN = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]*[a-z0-9])?$/

/**
 * Writes the certificates for Postfix and Dovecot; returns whether a file changed. `version` changes
 * when Dovecot must reload for another reason. Every file is replaced by one rename.
 */
export async function writeServerCertificates(
  folder: string,
  certificates: readonly ServerCertificate[],
  version: string,
): Promise<boolean> {
  certificates.forEach(check)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  let changed = false
  for (const { domain, pem } of certificates) {
    changed = (await writeChanged(fileOf(folder, domain), pem)) || changed
  }
  const owners = ownersOf(certificates)
  const lines = [...owners].map(([name, { domain }]) => {
    // In the table of Postfix a leading dot stands for all names below.
    return `${name.replace(/^\*/, '')} ${fileOf(folder, domain)}\n`
  })
  const map = join(folder, SNI_MAP)
  const isKnown = (await textOf(map)) === lines.join('') && (await hasFile(`${map}.db`))
  if (changed || !isKnown) {
    await writeMap(map, lines.join(''))
    changed = true
  }
  // Dovecot does not start if a file of its configuration is missing, so this goes before removals.
  const blocks = blocksOf(folder, owners, version)
  changed = (await writeChanged(join(folder, SNI_BLOCKS), blocks)) || changed
  const current = new Set(certificates.map(({ domain }) => `${domain}.pem`))
  for (const name of await readdir(folder)) {
    if (name.endsWith('.pem') && !current.has(name)) await rm(join(folder, name), { force: true })
  }
  return changed
}

/**
 * Creates the files without a certificate, because Postfix does not start TLS without its table. They
 * name the default certificate, so that Dovecot does not reload right after its start.
 */
export async function ensureServerCertificates(folder: string, defaults: string[]): Promise<void> {
  if (await hasFile(join(folder, `${SNI_MAP}.db`))) return
  const texts = await Promise.all(defaults.map(textOf))
  await writeServerCertificates(folder, [], versionOf(texts.join('\n')))
}

/** Changes with the default certificate. */
export const versionOf = (defaultCertificate: string): string =>
  createHash('sha256').update(defaultCertificate).digest('hex')

const fileOf = (folder: string, domain: string) => join(folder, `${domain}.pem`)

/** Throws for a name or a key that would break the configuration of the mail servers. */
function check({ domain, names, pem }: ServerCertificate): void {
  const bad = [domain, ...names.map((name) => name.replace(/^\*\./, ''))].find(
    (name) => !DOMAIN.test(name),
  )
  if (bad !== undefined) throw new Error(`${JSON.stringify(bad)} is not a name of a host`)
  if (!new X509Certificate(pem).checkPrivateKey(createPrivateKey(pem))) {
    throw new Error(`the key of the certificate of ${domain} does not match`)
  }
}

/** The certificate of each name: that of the domain with this very name before any other. */
function ownersOf(certificates: readonly ServerCertificate[]): Map<string, ServerCertificate> {
  const owners = new Map<string, ServerCertificate>()
  for (const certificate of certificates) {
    for (const name of certificate.names) {
      if (!owners.has(name) || certificate.domain === name) owners.set(name, certificate)
    }
  }
  return new Map([...owners].sort(([one], [other]) => (one < other ? -1 : 1)))
}

function blocksOf(folder: string, owners: Map<string, ServerCertificate>, version: string): string {
  const fingerprint = createHash('sha256').update(version)
  for (const { pem } of owners.values()) fingerprint.update(pem)
  const blocks = [...owners].map(([name, { domain }]) => {
    const file = fileOf(folder, domain)
    return `local_name ${name} {\n  ssl_cert = <${file}\n  ssl_key = <${file}\n}\n`
  })
  return `# Written by mailplane; changes here are lost. ${fingerprint.digest('hex')}\n${blocks.join('')}`
}

/** Postfix keeps the content of the files in the table, because it looks up without privileges. */
async function writeMap(map: string, text: string): Promise<void> {
  const temporary = `${map}.${process.pid}.new`
  try {
    await writeFile(temporary, text, { mode: 0o600 })
    await run('postmap', ['-F', `hash:${temporary}`], {
      env: { PATH, LC_ALL: 'C' },
      cwd: '/',
      timeout: POSTMAP_MS,
    })
    await rename(`${temporary}.db`, `${map}.db`)
    await rename(temporary, map)
  } finally {
    await rm(temporary, { force: true })
    await rm(`${temporary}.db`, { force: true })
  }
}

async function writeChanged(file: string, text: string): Promise<boolean> {
  if ((await textOf(file)) === text) return false
  const temporary = `${file}.${process.pid}.new`
  await writeFile(temporary, text, { mode: 0o600 })
  await rename(temporary, file)
  return true
}

const textOf = (file: string) => readFile(file, 'utf8').catch(() => undefined)
const hasFile = async (file: string) => (await readFile(file).catch(() => undefined)) !== undefined

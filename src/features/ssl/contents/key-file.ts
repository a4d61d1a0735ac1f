import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Issued } from '../acme/certificate-authority.ts'

/** Rejects a certificate for another key or without one of the requested names. */
export function checkIssued({ key, chain }: Issued, names: string[]): void {
  const certificate = new X509Certificate(chain)
  if (!certificate.checkPrivateKey(createPrivateKey(key))) {
    throw new Error('the CA sent a certificate for another key')
  }
  const missing = names.find((name) => certificate.checkHost(name) === undefined)
  if (missing !== undefined) throw new Error(`the CA sent a certificate without ${missing}`)
}

export const pemOf = ({ key, chain }: Issued): string => `${key.trim()}\n${chain.trim()}\n`

/** The text if it has a certificate and its key; undefined for all other texts. */
export function keyAndChain(text: string): string | undefined {
  try {
    const matches = new X509Certificate(text).checkPrivateKey(createPrivateKey(text))
    return matches ? text : undefined
  } catch {
    return undefined
  }
}

/** Replaces key and chain atomically with one rename. Only this user can read the file. */
export async function writeKeyFile(path: string, pem: string): Promise<void> {
  const folder = dirname(path)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const temporary = `${path}.${randomBytes(6).toString('hex')}.new`
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(pem)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  const directory = await open(folder)
  await directory.sync().finally(() => directory.close())
}

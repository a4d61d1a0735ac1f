import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import type { Config } from '../../../config/index.ts'
import { hashOfKey } from '../inventory/certificate-file.ts'
import type { ClaimedOrder } from './orders.repository.ts'

type Settings = Pick<Config, 'SVC_MAIL_HOSTNAME'>
type Order = Pick<ClaimedOrder, 'domain' | 'path' | 'new_key'>

/** Not among the certificates that are listed, because of its ending. */
const nextKeyFile = (path: string) => `${path}.next.key`

/**
 * TLSA records name the key of the mail host, so its renewals keep the key. When an operator asks for a
 * new one, it is the next key, whose TLSA record was advised since the certificate before. Undefined: a
 * new key, which all other certificates get each time.
 */
export async function keyForOrder(
  { SVC_MAIL_HOSTNAME }: Settings,
  { domain, path, new_key }: Order,
): Promise<string | undefined> {
  if (domain !== SVC_MAIL_HOSTNAME) return undefined
  return readKey(new_key ? nextKeyFile(path) : path)
}

/** Makes the next key of the mail host unless it is there and unused; returns its hash. */
export async function prepareNextKey(
  { SVC_MAIL_HOSTNAME }: Settings,
  { domain, path }: Order,
  used: string,
): Promise<string | null> {
  if (domain !== SVC_MAIL_HOSTNAME) return null
  const current = hashOf(used)
  const existing = await readKey(nextKeyFile(path))
  if (existing !== undefined && hashOf(existing) !== current) return hashOf(existing)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  const temporary = `${nextKeyFile(path)}.${randomBytes(6).toString('hex')}.new`
  try {
    await writeFile(temporary, pem, { mode: 0o600, flag: 'wx' })
    await rename(temporary, nextKeyFile(path))
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  return hashOf(pem)
}

const hashOf = (pem: string): string => hashOfKey(createPublicKey(pem))

/** The key of a file in PEM; undefined when there is none that can be used. */
async function readKey(path: string): Promise<string | undefined> {
  try {
    const key = createPrivateKey(await readFile(path))
    return key.export({ type: 'pkcs8', format: 'pem' }) as string
  } catch {
    return undefined
  }
}

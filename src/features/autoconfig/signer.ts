import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../config/index.ts'
import { webHost } from '../../hosting/client-settings.ts'
import { certificateFolder, fileOf } from '../ssl/inventory/places.ts'

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]{1,200000}-----END CERTIFICATE-----/g

export interface Signer {
  key: KeyObject
  /** The certificate, then the intermediate certificates. */
  chain: X509Certificate[]
}

/**
 * The certificate of this host that can sign now: one of a CA before that of the mail servers. Undefined
 * when this process can read none together with its key.
 */
export async function findSigner(config: Config, now: Date): Promise<Signer | undefined> {
  const folder = certificateFolder(config)
  const own = [webHost(config), config.SVC_MAIL_HOSTNAME].map((host) => fileOf(folder, host))
  const edge = join(config.DATA_DIR, 'edge', 'tls')
  const places = [
    ...own.map((file) => [file, file] as const),
    [config.EDGE_TLS_CERT, config.EDGE_TLS_KEY] as const,
    [join(edge, 'cert.pem'), join(edge, 'key.pem')] as const,
  ]
  for (const [certificate, key] of places) {
    const signer = await read(certificate, key, now)
    if (signer) return signer
  }
  return undefined
}

async function read(certificate: string, key: string, now: Date): Promise<Signer | undefined> {
  try {
    const text = await readFile(certificate, 'utf8')
    const chain = (text.match(BLOCK) ?? []).map((block) => new X509Certificate(block))
    const privateKey = createPrivateKey(await readFile(key))
    const [leaf] = chain
    const isGood =
      leaf?.checkPrivateKey(privateKey) &&
      new Date(leaf.validTo) > now &&
      new Date(leaf.validFrom) <= now
    return isGood ? { key: privateKey, chain } : undefined
  } catch {
    return undefined
  }
}

import { createPrivateKey, X509Certificate } from 'node:crypto'
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

/** Key and chain in one file, so that one rename replaces both. */
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

import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import type { Core } from '../../../core.ts'
import { openContent, sealContent } from '../contents/contents.ts'
import { hashOfKey } from '../inventory/certificate-file.ts'
import type { ClaimedOrder } from './orders.repository.ts'

type Needs = Pick<Core, 'config' | 'vault'>
type Order = Pick<ClaimedOrder, 'domain' | 'new_key' | 'sealed_content' | 'sealed_next_key'>

/** The key that the next certificate with a new key has. */
export interface NextKey {
  hash: string
  sealed: Buffer
}

/**
 * TLSA records name the key of the mail host, so its renewals keep the key. When an operator asks for a
 * new one, it is the next key, whose TLSA record was advised since the certificate before. Undefined: a
 * new key, which all other certificates get each time.
 */
export function keyForOrder(needs: Needs, order: Order): string | undefined {
  if (order.domain !== needs.config.SVC_MAIL_HOSTNAME) return undefined
  return keyIn(needs, order.new_key ? order.sealed_next_key : order.sealed_content)
}

/** The next key of the mail host: the one that is there, unless it was used. */
export function nextKeyAfter(needs: Needs, order: Order, used: string): NextKey | undefined {
  if (order.domain !== needs.config.SVC_MAIL_HOSTNAME) return undefined
  const existing = keyIn(needs, order.sealed_next_key)
  const pem = existing !== undefined && hashOf(existing) !== hashOf(used) ? existing : newKey()
  return { hash: hashOf(pem), sealed: sealContent(needs.vault, pem) }
}

const newKey = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  }) as string

const hashOf = (pem: string): string => hashOfKey(createPublicKey(pem))

function keyIn({ vault }: Needs, sealed: Uint8Array | null): string | undefined {
  if (sealed === null) return undefined
  const key = createPrivateKey(openContent(vault, sealed))
  return key.export({ type: 'pkcs8', format: 'pem' }) as string
}

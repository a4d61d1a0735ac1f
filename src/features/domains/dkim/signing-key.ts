import type { Core } from '../../../core.ts'
import type { Tx } from '../../../database/database.ts'
import { ulid } from '../../../lib/ulid.ts'
import * as keys from './dkim.repository.ts'
import { DKIM_KEY_BITS, DKIM_PURPOSE, newDkimKey } from './dkim-key.ts'

type KeyPair = Awaited<ReturnType<typeof newDkimKey>>

/** Undefined on failure: a domain works without a key, and a rotation can add one later. */
export async function makeKey({ log }: Pick<Core, 'log'>): Promise<KeyPair | undefined> {
  try {
    return await newDkimKey()
  } catch (error) {
    log.error({ err: error }, 'DKIM key generation failed, the domain has no key')
    return undefined
  }
}

/**
 * Gives a domain without a signing key this one. A key that the selector already names is used
 * instead, because its DNS record may be published. Returns false when the domain has a signing key.
 */
export async function storeSigningKey(
  { now, vault }: Pick<Core, 'now' | 'vault'>,
  tx: Tx,
  domain: { id: string; dkim_selector: string },
  key: KeyPair,
): Promise<boolean> {
  if (await keys.findActive(tx, domain.id)) return false
  const inserted = await keys.insert(tx, {
    id: ulid(),
    domain_id: domain.id,
    selector: domain.dkim_selector,
    key_size: DKIM_KEY_BITS,
    public_key: key.publicKey,
    private_key: vault.seal(DKIM_PURPOSE, key.privateKey),
    active: true,
  })
  if (!inserted) await keys.activate(tx, domain.id, domain.dkim_selector, now())
  return true
}

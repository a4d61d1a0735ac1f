import { createHash } from 'node:crypto'
import { type AgeIdentity, type AgeRecipient, ageOpen, ageSeal } from '../../../lib/age.ts'
import { breather } from '../../../lib/breather.ts'
import { pack, unpack } from './packing.ts'

const STEP_BYTES = 1024 * 1024

/** An archived message does not match its hash, or cannot be opened. */
export class Damaged extends Error {}

/** SHA-256 of a message; a large one is hashed in steps between which other work runs. */
export async function hashOf(message: Buffer): Promise<Buffer> {
  const hash = createHash('sha256')
  const breathe = breather()
  for (let at = 0; at < message.length; at += STEP_BYTES) {
    hash.update(message.subarray(at, at + STEP_BYTES))
    await breathe()
  }
  return hash.digest()
}

export async function sealMessage(recipients: readonly AgeRecipient[], message: Buffer) {
  const { packed, suffix } = await pack(message)
  return { sealed: await ageSeal(recipients, packed), suffix }
}

/** Returns the message only if it is the one that was archived, byte for byte. */
export async function openMessage(
  identities: readonly AgeIdentity[],
  sealed: Buffer,
  { storage_key, content_hash }: { storage_key: string; content_hash: Buffer },
): Promise<Buffer> {
  let message: Buffer
  try {
    message = await unpack(await ageOpen(identities, sealed), storage_key)
  } catch (error) {
    throw new Damaged((error as Error).message)
  }
  if (!(await hashOf(message)).equals(content_hash)) throw new Damaged('the hash does not match')
  return message
}

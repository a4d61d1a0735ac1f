import { randomBytes } from 'node:crypto'
import { sameSecret } from '../../lib/tokens.ts'
import type { Vault } from '../../lib/vault.ts'

const RANDOM_BYTES = 16
const POSITION_BYTES = 2
const MAC_BYTES = 8
export const MAX_LINKS = 2 ** (8 * POSITION_BYTES)

/** What an id in an address stands for: somebody's copy of a message, or a link of it. */
export interface TrackedThing {
  copy: string
  position?: number
}

export type TrackingIds = ReturnType<typeof trackingIds>

/**
 * Ids that say nothing: random bytes, for a link its place, and a signature. What nobody has minted
 * is told without looking anywhere, so guesses cost no query.
 */
export function trackingIds(vault: Pick<Vault, 'fingerprint'>) {
  const signed = (bytes: Buffer): string => {
    const mac = Buffer.from(vault.fingerprint('tracking id', bytes), 'hex').subarray(0, MAC_BYTES)
    return Buffer.concat([bytes, mac]).toString('base64url')
  }

  return {
    /** Also the key of the row that says whose copy it is. */
    mint: (): string => signed(randomBytes(RANDOM_BYTES)),

    link(copy: string, position: number): string {
      const place = Buffer.alloc(POSITION_BYTES)
      place.writeUInt16BE(position)
      const random = Buffer.from(copy, 'base64url').subarray(0, RANDOM_BYTES)
      return signed(Buffer.concat([random, place]))
    },

    /** Undefined for everything that was not minted here. */
    read(id: string): TrackedThing | undefined {
      // Some programs pad what is base64.
      const plain = id.replace(/=+$/, '')
      const bytes = Buffer.from(plain, 'base64url').subarray(0, -MAC_BYTES)
      if (!sameSecret(signed(bytes), plain)) return undefined
      if (bytes.length === RANDOM_BYTES) return { copy: plain }
      const random = bytes.subarray(0, RANDOM_BYTES)
      return { copy: signed(random), position: bytes.readUInt16BE(RANDOM_BYTES) }
    },
  }
}

import { createHash } from 'node:crypto'

const Z_BASE_32 = 'ybndrfg8ejkmcpqxot1uwisza345h769'

/** The name of an address in a Web Key Directory: SHA-1 of its local part in z-base-32. */
export function wkdHash(localPart: string): string {
  const digest = createHash('sha1').update(localPart.toLowerCase()).digest()
  let text = ''
  let bits = 0
  let value = 0
  for (const byte of digest) {
    value = ((value << 8) | byte) & 0xffff
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += Z_BASE_32[(value >> bits) & 31]
    }
  }
  return text
}

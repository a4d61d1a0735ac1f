import { lruMap } from '../../../lib/lru-map.ts'
import { Refused } from '../answer.ts'
import { pemBlocks } from './asn1.ts'
import { type Certificate, certificateOf } from './certificate.ts'

const MAX_KNOWN = 200
const known = lruMap<string, Certificate>(MAX_KNOWN)

/** A stored certificate in PEM; a thread keeps the ones that it has parsed. */
export function storedCertificate(text: string): Certificate {
  let certificate = known.get(text)
  if (!certificate) {
    const [block] = pemBlocks(text, /^CERTIFICATE$/)
    if (!block) throw new Refused('The stored certificate cannot be read')
    certificate = certificateOf(block.bytes)
    known.set(text, certificate)
  }
  return certificate
}

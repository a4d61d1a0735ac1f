import { Refused } from '../answer.ts'
import { pemBlocks } from './asn1.ts'
import { type Certificate, certificateOf } from './certificate.ts'

const MAX_KNOWN = 200
const known = new Map<string, Certificate>()

/** A stored certificate in PEM; a thread keeps the ones that it has parsed. */
export function storedCertificate(text: string): Certificate {
  let certificate = known.get(text)
  if (!certificate) {
    const [block] = pemBlocks(text, /^CERTIFICATE$/)
    if (!block) throw new Refused('The stored certificate cannot be read')
    certificate = certificateOf(block.bytes)
    if (known.size >= MAX_KNOWN) known.delete(known.keys().next().value as string)
    known.set(text, certificate)
  }
  return certificate
}

import type { KeyObject } from 'node:crypto'
import * as pkijs from 'pkijs'
import { Refused, WrongPassphrase } from '../answer.ts'
import { integerOf, type Node, octets, oidOf, read, tagOf, within } from './asn1.ts'
import { type Certificate, certificateOf } from './certificate.ts'
import { MAX_ITERATIONS, opened, privateKeyFrom, unlockedKey } from './private-keys.ts'

const DATA = '1.2.840.113549.1.7.1'
const ENCRYPTED_DATA = '1.2.840.113549.1.7.6'
const KEY_BAG = '1.2.840.113549.1.12.10.1.1'
const SHROUDED_KEY_BAG = '1.2.840.113549.1.12.10.1.2'
const CERTIFICATE_BAG = '1.2.840.113549.1.12.10.1.3'
const MAX_BAGS = 50

export interface Unpacked {
  certificates: Certificate[]
  key: KeyObject | undefined
}

/** The certificates and the private key of a PKCS #12 file (RFC 7292). */
export async function unpacked(file: Buffer, passphrase: string): Promise<Unpacked> {
  const whole = read(file, 'The PKCS #12 file')
  const [, safe, mac] = within(whole)
  const iterations = within(mac)[2]
  if (!mac || (iterations && !(integerOf(iterations) <= MAX_ITERATIONS))) {
    throw new Refused('The PKCS #12 file has no check of its integrity that is accepted')
  }
  await checkIntegrity(whole, passphrase)
  const bags = within(read(contentOf(safe), 'The PKCS #12 file')).flatMap((part) =>
    within(read(partOf(part, passphrase), 'The PKCS #12 file')),
  )
  if (bags.length > MAX_BAGS) throw new Refused(`The PKCS #12 file has more than ${MAX_BAGS} parts`)
  const found: Unpacked = { certificates: [], key: undefined }
  for (const bag of bags) {
    const [type, wrapped] = within(bag)
    const [value] = within(wrapped)
    const kind = oidOf(type)
    if (kind === CERTIFICATE_BAG) found.certificates.push(certificateOf(contentOf(value)))
    else if (kind === KEY_BAG && value) found.key ??= privateKeyFrom(Buffer.from(value.toBER()))
    else if (kind === SHROUDED_KEY_BAG) {
      const [algorithm, sealed] = within(value)
      if (!algorithm) throw new Refused('The PKCS #12 file cannot be read')
      found.key ??= unlockedKey(algorithm, octets(sealed), passphrase)
    }
  }
  return found
}

async function checkIntegrity(whole: Node, passphrase: string): Promise<void> {
  const wrong = 'The passphrase does not open the PKCS #12 file'
  try {
    const file = new pkijs.PFX({ schema: whole })
    const password = new Uint8Array(Buffer.from(passphrase)).buffer
    await file.parseInternalValues({ checkIntegrity: true, password })
  } catch (error) {
    if (/integrity/i.test((error as Error).message)) throw new WrongPassphrase(wrong)
    throw new Refused(`The PKCS #12 file cannot be read: ${(error as Error).message}`)
  }
}

/** [0] { OCTET STRING } after the type. */
const contentOf = (info: Node | undefined): Buffer =>
  octets(within(within(info).find((node) => tagOf(node) === 0))[0])

function partOf(info: Node, passphrase: string): Buffer {
  const [type, wrapped] = within(info)
  if (oidOf(type) === DATA) return contentOf(info)
  if (oidOf(type) !== ENCRYPTED_DATA) throw new Refused('The PKCS #12 file cannot be read')
  const [, encrypted] = within(within(wrapped)[0])
  const [, algorithm, sealed] = within(encrypted)
  if (!algorithm) throw new Refused('The PKCS #12 file cannot be read')
  return opened(algorithm, octets(sealed), passphrase)
}

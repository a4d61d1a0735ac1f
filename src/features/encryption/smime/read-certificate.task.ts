import { type Answer, answer, Refused } from '../answer.ts'
import { pem, pemBlocks } from './asn1.ts'
import {
  addressesOf,
  type Certificate,
  type CertificateFacts,
  certificateOf,
  factsOf,
} from './certificate.ts'
import { type Unpacked, unpacked } from './pkcs12.ts'
import { locked, privateKeyIn } from './private-keys.ts'

const MAX_CERTIFICATES = 10
const MIN_PASSPHRASE = 8

interface Input {
  email: string
  /** In PEM: a certificate, others that vouch for it, and a private key. */
  certificate?: string | undefined
  /** In Base64. */
  pkcs12?: string | undefined
  /** Opens what was sent. */
  passphrase?: string | undefined
  /** Locks the private key here. */
  newPassphrase?: string | undefined
  now: Date
}

export interface ReadCertificate extends CertificateFacts {
  chain: string
  /** Locked with the passphrase. */
  private_key?: string
}

/** Reads a certificate for an address: it must have the address and be allowed for mail. */
export default (input: Input): Promise<Answer<ReadCertificate>> =>
  answer(async () => {
    const { email, now } = input
    const { certificates, key } = await sent(input)
    if (certificates.length > MAX_CERTIFICATES) {
      throw new Refused(`There are more than ${MAX_CERTIFICATES} certificates`)
    }
    const own = certificates.find(
      (one) => addressesOf(one).includes(email) && (!key || one.x509.checkPrivateKey(key)),
    )
    if (!own) {
      const belongs = key ? ' that belongs to the private key' : ''
      throw new Refused(`There is no certificate of ${email}${belongs}`)
    }
    const facts = factsOf(own, now)
    // An old certificate opens old mail; without its key it is of no use.
    if (!key && new Date(facts.expires_at) <= now) throw new Refused('The certificate has expired')
    const others = certificates.filter((one) => one !== own)
    const chain = others.map(({ x509 }) => pem('CERTIFICATE', x509.raw)).join('')
    if (!key) return { ...facts, chain }
    const passphrase = input.newPassphrase ?? input.passphrase
    if (passphrase === undefined) throw new Refused('Send a passphrase with a private key')
    if (passphrase.length < MIN_PASSPHRASE) {
      throw new Refused(
        `The passphrase has fewer than ${MIN_PASSPHRASE} characters; send a new_passphrase`,
      )
    }
    return { ...facts, chain, private_key: locked(key, passphrase) }
  })

async function sent({ certificate, pkcs12, passphrase }: Input): Promise<Unpacked> {
  if (pkcs12 !== undefined) {
    return unpacked(Buffer.from(pkcs12, 'base64'), passphrase ?? '')
  }
  const text = certificate ?? ''
  const certificates: Certificate[] = pemBlocks(text, /^(X509 |TRUSTED )?CERTIFICATE$/).map(
    ({ bytes }) => certificateOf(bytes),
  )
  if (certificates.length === 0) throw new Refused('There is no certificate in PEM')
  return { certificates, key: privateKeyIn(text, passphrase) }
}

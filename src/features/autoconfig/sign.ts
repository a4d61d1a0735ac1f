import { type KeyObject, webcrypto } from 'node:crypto'
import type { Signer } from './signer.ts'

const CURVES: Record<string, string> = {
  prime256v1: 'P-256',
  secp384r1: 'P-384',
  secp521r1: 'P-521',
}

/** Signs content as CMS (RFC 5652) with the content inside, in DER. */
export async function signed(content: Buffer, { key, chain }: Signer): Promise<Buffer> {
  // Loaded on first use, because few processes sign.
  const [pkijs, asn1js] = await Promise.all([import('pkijs'), import('asn1js')])
  const engine = new pkijs.CryptoEngine({ name: 'node', crypto: webcrypto as never })
  const certificates = chain.map(({ raw }) => pkijs.Certificate.fromBER(bytesOf(raw)))
  const [leaf] = certificates
  if (!leaf) throw new Error('there is no certificate to sign with')
  const data = new pkijs.SignedData({
    version: 1,
    encapContentInfo: new pkijs.EncapsulatedContentInfo({
      eContentType: pkijs.ContentInfo.DATA,
      eContent: new asn1js.OctetString({ valueHex: bytesOf(content) }),
    }),
    signerInfos: [
      new pkijs.SignerInfo({
        version: 1,
        sid: new pkijs.IssuerAndSerialNumber({
          issuer: leaf.issuer,
          serialNumber: leaf.serialNumber,
        }),
      }),
    ],
    certificates,
  })
  await data.sign(await imported(key), 0, 'SHA-256', undefined, engine)
  const info = new pkijs.ContentInfo({
    contentType: pkijs.ContentInfo.SIGNED_DATA,
    content: data.toSchema(true),
  })
  return Buffer.from(info.toSchema().toBER(false))
}

function imported(key: KeyObject) {
  const der = key.export({ type: 'pkcs8', format: 'der' })
  const { namedCurve = '' } = key.asymmetricKeyDetails ?? {}
  const algorithm =
    key.asymmetricKeyType === 'ec'
      ? { name: 'ECDSA', namedCurve: CURVES[namedCurve] ?? namedCurve }
      : { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
  return webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign'])
}

/** A copy without the rest of the pool of Buffer. */
const bytesOf = (bytes: Buffer): ArrayBuffer => new Uint8Array(bytes).buffer

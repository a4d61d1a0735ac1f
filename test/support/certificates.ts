import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { DAY_MS } from '../../src/lib/time.ts'

/** A self-signed certificate for one name, valid for a year from today. */
export function makeCertificate(domain: string, kind: 'ec' | 'rsa' = 'ec', days = 365) {
  const { privateKey, publicKey } =
    kind === 'ec'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 })
  const algorithm = sequence(
    ...(kind === 'ec' ? [oid('2a8648ce3d040302')] : [oid('2a864886f70d01010b'), der(0x05)]),
  )
  const name = sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(domain)))))
  const alternative = sequence(oid('551d11'), der(0x04, sequence(der(0x82, Buffer.from(domain)))))
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.concat([Buffer.of(1), randomBytes(8)])),
    algorithm,
    name,
    sequence(time(new Date(Date.now() - DAY_MS)), time(new Date(Date.now() + days * DAY_MS))),
    name,
    publicKey.export({ format: 'der', type: 'spki' }),
    der(0xa3, sequence(alternative)),
  )
  const signature = der(0x03, Buffer.of(0), sign('sha256', body, privateKey))
  const bytes = sequence(body, algorithm, signature)
  const lines = bytes.toString('base64').replace(/.{64}/g, '$&\n')
  return {
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }) as string,
    certificate: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  }
}

/** X.690: encodes a tag, a length and the content. */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const long = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  const size = Buffer.from(length < 128 ? [length] : long)
  return Buffer.concat([Buffer.of(tag), size, content])
}

const sequence = (...parts: Buffer[]) => der(0x30, ...parts)
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))
const time = (date: Date) =>
  der(0x17, Buffer.from(date.toISOString().replace(/^20|[-:T]|\.\d+/g, '')))

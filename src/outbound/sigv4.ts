import { createHash, createHmac } from 'node:crypto'

/** For requests over TLS, which protects the body already. */
export const UNSIGNED_PAYLOAD = 'UNSIGNED-PAYLOAD'

interface Signing {
  method: string
  url: URL
  /** Headers to sign besides those that are added. */
  headers?: Record<string, string>
  /** SHA-256 of the body in hex, or UNSIGNED_PAYLOAD. */
  payloadHash: string
  accessKey: string
  secretKey: string
  region: string
  at: Date
}

/** The headers of a request to S3, signed with AWS Signature Version 4. */
export function signedHeaders(signing: Signing): Record<string, string> {
  const { method, url, payloadHash, accessKey, secretKey, region, at } = signing
  const time = at.toISOString().replace(/[-:]|\.\d+/g, '')
  const day = time.slice(0, 8)
  const headers: Record<string, string> = {
    ...signing.headers,
    host: url.host,
    'x-amz-content-sha256': payloadHash,
    'x-amz-date': time,
  }
  const names = Object.keys(headers).sort()
  const query = [...url.searchParams]
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    .sort()
    .join('&')
  const request = [
    method,
    url.pathname,
    query,
    ...names.map((name) => `${name}:${headers[name]?.trim()}`),
    '',
    names.join(';'),
    payloadHash,
  ].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(request)].join('\n')
  const key = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(
    (secret, part) => hmac(secret, part),
    `AWS4${secretKey}`,
  )
  const signature = hmac(key, text).toString('hex')
  return {
    ...headers,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope},SignedHeaders=${names.join(';')},Signature=${signature}`,
  }
}

/** S3 wants more characters escaped than encodeURIComponent escapes. */
export const escaped = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest()

import { createDecipheriv, createECDH, createHmac, randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { arePushKeys, encryptPush } from './web-push.ts'

const receiver = createECDH('prime256v1')
const p256dh = receiver.generateKeys('base64url')
const auth = randomBytes(16)
const keys = { p256dh, auth: auth.toString('base64url') }

const hmac = (key: Buffer, ...parts: (Buffer | string)[]): Buffer => {
  const digest = createHmac('sha256', key)
  for (const part of parts) digest.update(part)
  return digest.digest()
}

/** RFC 8291 section 3.4, by the steps of its summary. */
function decrypt(body: Buffer): string {
  const salt = body.subarray(0, 16)
  const sender = body.subarray(21, 21 + (body[20] ?? 0))
  const record = body.subarray(21 + sender.length)
  const shared = hmac(auth, receiver.computeSecret(sender))
  const info = [Buffer.from('WebPush: info\0'), receiver.getPublicKey(), sender, Buffer.of(1)]
  const material = hmac(salt, hmac(shared, ...info))
  const key = hmac(material, 'Content-Encoding: aes128gcm\0', Buffer.of(1)).subarray(0, 16)
  const nonce = hmac(material, 'Content-Encoding: nonce\0', Buffer.of(1)).subarray(0, 12)
  const cipher = createDecipheriv('aes-128-gcm', key, nonce).setAuthTag(record.subarray(-16))
  const padded = Buffer.concat([cipher.update(record.subarray(0, -16)), cipher.final()])
  expect(padded.at(-1)).toBe(2)
  return padded.subarray(0, -1).toString('utf8')
}

it('writes push messages that only the receiver reads', () => {
  const text = JSON.stringify({ '@type': 'StateChange', changed: { grün: '1' } })
  const body = encryptPush(text, keys)
  expect(body.readUInt32BE(16)).toBe(4096)
  expect(body.includes('StateChange')).toBe(false)
  expect(decrypt(body)).toBe(text)
  expect(encryptPush(text, keys).equals(body)).toBe(false)
})

it.each([
  ['the keys of a browser', keys, true],
  ['a public key of another length', { ...keys, p256dh: p256dh.slice(4) }, false],
  ['bytes that are no point of the curve', { ...keys, p256dh: 'B'.repeat(87) }, false],
  ['a short secret', { ...keys, auth: 'AAAA' }, false],
  ['no secret', { p256dh }, false],
  ['nothing', null, false],
])('checks keys: %s', (_what, value, isRight) => {
  expect(arePushKeys(value)).toBe(isRight)
})

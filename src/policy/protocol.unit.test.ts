import { expect, it } from 'vitest'
import { type PolicyRequest, policyParser, TooLong } from './protocol.ts'

/** Parses the text in chunks of this size. */
function parsed(text: string, size = Number.POSITIVE_INFINITY) {
  const found: PolicyRequest[] = []
  const parser = policyParser((request) => found.push(request))
  const bytes = Buffer.from(text)
  const step = Math.min(size, bytes.length)
  for (let at = 0; at < bytes.length; at += step) parser.push(bytes.subarray(at, at + step))
  return { found, isWaiting: parser.isWaiting }
}

const TWO =
  'request=smtpd_access_policy\nsender=jörg@exämple.test\nrecipient=a=b@example.test\n' +
  'helo_name=nobody asks\ninstance=1.2\n\nsender=\r\nsasl_username=日本\r\n\r\n'

it.each([1, 2, 3, 7, 64, Number.POSITIVE_INFINITY])(
  'the policy parser reads the known attributes from chunks of %d bytes',
  (size) => {
    expect(parsed(TWO, size)).toEqual({
      found: [
        { sender: 'jörg@exämple.test', recipient: 'a=b@example.test', instance: '1.2' },
        { sender: '', sasl_username: '日本' },
      ],
      isWaiting: false,
    })
  },
)

it('the policy parser ignores malformed lines and unknown attributes', () => {
  const { found } = parsed('nonsense\n=sender\n sender=x\nconstructor=1\n__proto__=2\n\n')
  expect(found).toEqual([{}])
})

it('the policy parser waits for the empty line that ends a request', () => {
  expect(parsed('\n\n').isWaiting).toBe(false)
  expect(parsed('sender=a@b.test\n')).toEqual({ found: [], isWaiting: true })
  expect(parsed('sen')).toEqual({ found: [], isWaiting: true })
})

it.each([
  ['a line without an end', 'x'.repeat(8193)],
  ['a long line', `${'x'.repeat(8193)}\n`],
  ['a long request', 'name=value\n'.repeat(7000)],
])('the policy parser rejects %s', (_what, text) => {
  expect(() => parsed(text)).toThrow(TooLong)
})

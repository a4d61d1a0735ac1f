import { createSecretKey, randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  type LinkCarrier,
  linesOf,
  linkCarriers,
  textAddress,
} from '../../../../test/support/link-carriers.ts'
import { type SeededRandom, seededRandom } from '../../../../test/support/seeded-random.ts'
import rewrite from './rewrite.task.ts'
import { locationOf, MAX_ADDRESS_BYTES, readSafePath, safePath, withFields } from './safe-links.ts'

const LINKS = Number(process.env.SAFE_LINKS ?? 100_000)
const PER_PAGE = 1000
const BASE = 'https://mail.acme.test/safe/'
const ORGANIZATION = '01J9ZK3M5N7P9R1T3V5X7Z9B1D'
const key = { id: 7, secret: createSecretKey(randomBytes(32)) }
const keyOf = (id: number) => (id === key.id ? key : undefined)

/** Text that breaks parsers: delimiters, escapes, other scripts, control characters. */
const HOSTILE = [
  'a',
  'Z',
  '9',
  '-',
  '.',
  '_',
  '~',
  '%',
  '%20',
  '%2F',
  '%00',
  '%ZZ',
  '/',
  '//',
  '\\',
  '?',
  '&',
  '&amp;',
  '&lt',
  '&#106;',
  '=',
  '#',
  '@',
  ':',
  ';',
  ',',
  '+',
  ' ',
  '\t',
  '\n',
  '"',
  "'",
  '`',
  '<',
  '>',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  '|',
  '^',
  '$',
  '!',
  '*',
  '\u0000',
  '\u007f',
  '\u00a0',
  'ü',
  'ß',
  'я',
  '漢',
  '😀',
  '\u202e',
  '\ufeff',
  '\ud800',
  '../',
  'https://',
  'javascript:',
]
const HOSTS = [
  'x.test',
  'X.TEST',
  'x.test.',
  'a.b.c.x.test',
  'xn--mnchen-3ya.test',
  'münchen.test',
  '例え.test',
  '127.0.0.1',
  '0x7f.1',
  '[::1]',
  '[2001:db8::1]',
  'x.test:8443',
  'user@x.test',
  'u:p@x.test',
  'x.test:99999',
  'x..test',
  '',
  'x_y.test',
  '%78.test',
]
const SCHEMES = [
  'https://',
  'http://',
  'HTTPS://',
  'https:\\\\',
  'http:',
  'https:///',
  '//',
  'ftp://',
  'mailto:',
  '',
]

function randomAddress({ below, pick, isTrue }: SeededRandom): string {
  const length = isTrue(0.01) ? below(9000) : below(40)
  const tail = Array.from({ length }, () => (isTrue(0.5) ? pick(HOSTILE) : 'abc'.charAt(below(3))))
  const scheme = isTrue(0.8) ? 'https://' : pick(SCHEMES)
  return `${scheme}${pick(HOSTS)}${isTrue(0.9) ? '/' : ''}${tail.join('')}`
}

/** The address that a browser would open for this attribute; undefined if it is no web address. */
function opened(written: string): string | undefined {
  // HTML has no NUL and no lone surrogates: both read as U+FFFD.
  const address = written
    .replaceAll('\0', '\ufffd')
    .toWellFormed()
    .replace(/^[\x00-\x20]+|[\x00-\x20]+$/g, '')
  const absolute =
    /^[/\\][\t\r\n]*[/\\]/.test(address) && !URL.canParse(address) ? `https:${address}` : address
  if (!URL.canParse(absolute) || !/^https?:$/.test(new URL(absolute).protocol)) return undefined
  return Buffer.byteLength(absolute) <= MAX_ADDRESS_BYTES ? absolute : undefined
}

/** The lines of a message or of an HTML page after the rewriting. */
async function rewrittenLines(carrier: LinkCarrier, lines: readonly string[], isPage: boolean) {
  const page = Buffer.from(lines.join('\r\n'), 'latin1').toString('utf8')
  const content = isPage ? page : carrier.message(lines)
  const done = rewrite({ content, base: BASE, organizationId: ORGANIZATION, key, allowed: [] })
  if (isPage)
    return Buffer.from(done?.page ?? '', 'utf8')
      .toString('latin1')
      .split('\r\n')
  return linesOf(Buffer.from(done?.message ?? []))
}

describe(`${LINKS} generated links in HTML and plain text, charsets and transfer encodings`, () => {
  it('come back byte for byte, and lead where they led before', async () => {
    const counts = { rewritten: 0, left: 0, asWritten: 0 }
    const random = seededRandom(2207)
    const { below, pick } = random
    for (let page = 0; page < LINKS / PER_PAGE; page++) {
      const turn = page % (linkCarriers.length + 1)
      const carrier = (linkCarriers[turn] ?? linkCarriers[0]) as LinkCarrier
      const written = Array.from({ length: PER_PAGE }, () => {
        const address = randomAddress(random)
        if (carrier.isText) return textAddress(address, random, carrier.charset)
        return `${below(20) === 0 ? pick([' ', '\t', '\n', '\v']) : ''}${address}`
      })
      const lines = written.map((one) => carrier.line(one))
      const results = await rewrittenLines(carrier, lines, turn === linkCarriers.length)
      expect(results, carrier.name).toHaveLength(PER_PAGE)
      for (const [index, one] of written.entries()) {
        const expected = carrier.isText && !/^https?:\/\//i.test(one) ? undefined : opened(one)
        if (expected === undefined) {
          counts.left++
          if (results[index] !== lines[index]) {
            expect(results[index], carrier.name).toBe(lines[index])
          }
          continue
        }
        counts.rewritten++
        const value = carrier.linkIn(results[index] as string) ?? ''
        const link = readSafePath(value.slice(BASE.length), keyOf)
        if (link?.address !== expected || link.isForm !== carrier.isForm) {
          expect(link, carrier.name).toMatchObject({ address: expected, isForm: carrier.isForm })
        }
        const location = locationOf(expected)
        if (location === expected) counts.asWritten++
        // Headers carry printable ASCII alone, and lead to what a browser would have opened.
        if (!/^[\x21-\x7e]+$/.test(location)) expect(location).toMatch(/^[\x21-\x7e]+$/)
        const target = new URL(location, 'https://mail.acme.test/safe/x/y').href
        if (target !== new URL(expected).href) expect(target).toBe(new URL(expected).href)
      }
    }
    expect(counts.rewritten).toBeGreaterThan(LINKS * 0.6)
    expect(counts.left).toBeGreaterThan(LINKS * 0.05)
    expect(counts.asWritten).toBeGreaterThan(LINKS * 0.05)
  })
})

describe('a signed path', () => {
  const link = { organizationId: ORGANIZATION, address: 'https://x.test/?a=b~', isForm: false }
  const path = safePath(key, link)

  it('is not read after any change of a byte, at any place', () => {
    expect(readSafePath(path, keyOf)).toEqual(link)
    const letters = 'ABCZabcz0189-_/=+.%?# \u00e9'
    for (let at = 0; at < path.length; at++) {
      for (const letter of letters) {
        const changed = path.slice(0, at) + letter + path.slice(at + 1)
        if (changed !== path && readSafePath(changed, keyOf)) expect(changed).toBe(path)
      }
      const shorter = path.slice(0, at) + path.slice(at + 1)
      if (readSafePath(shorter, keyOf)) expect(shorter).toBe(path)
    }
    for (const more of [`${path}/`, `${path}A`, `${path}=`, `/${path}`, ` ${path}`]) {
      expect(readSafePath(more, keyOf)).toBeUndefined()
    }
  })

  it('is not read with another key, for another organization or as a form', () => {
    const other = { id: key.id, secret: createSecretKey(randomBytes(32)) }
    expect(readSafePath(path, () => other)).toBeUndefined()
    expect(readSafePath(path, () => undefined)).toBeUndefined()
    const organization = path.replace(ORGANIZATION, ORGANIZATION.replace('01J', '01K'))
    expect(readSafePath(organization, keyOf)).toBeUndefined()
    expect(readSafePath(`f${path.slice(1)}`, keyOf)).toBeUndefined()
  })

  it('never ends with a letter that mail programs cut off', () => {
    for (const end of ['~', '?', '>', 'a', 'ab', 'abc', '\u00bf']) {
      const one = safePath(key, { ...link, address: `https://x.test/${end}` })
      expect(one).toMatch(/[A-Za-z0-9/]$/)
      expect(readSafePath(one, keyOf)?.address).toBe(`https://x.test/${end}`)
    }
  })
})

it('a form sent with GET replaces the query of its target, as browsers do', () => {
  expect(withFields('https://x.test/f?old=1#top', 'a=b&c=%20')).toBe('https://x.test/f?a=b&c=%20')
})

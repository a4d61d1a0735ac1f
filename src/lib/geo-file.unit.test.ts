import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { geoFile as databaseOf } from '../../test/support/geo-file.ts'
import { geoFile } from './geo-file.ts'
import { MINUTE_MS } from './time.ts'

const NETWORKS: Record<string, string> = {
  '192.0.2.0/24': 'DE',
  '198.51.100.128/25': 'FR',
  '203.0.113.7/32': 'JP',
  '2001:db8::/32': 'BR',
  '2001:db9:0:1::/64': 'CA',
}
const directory = mkdtempSync(join(tmpdir(), 'geo-file-'))
afterAll(() => rmSync(directory, { recursive: true }))
afterEach(() => vi.useRealTimers())

const countryOf = (record: unknown) =>
  (record as { country: { iso_code: string } } | undefined)?.country.iso_code

function open(content: Buffer) {
  const path = join(directory, 'country.mmdb')
  writeFileSync(path, content)
  const errors: unknown[] = []
  return { path, errors, file: geoFile(path, (error) => errors.push(error)) }
}

describe.each([24, 28, 32])('a database with records of %i bits', (recordBits) => {
  const { file } = open(databaseOf(NETWORKS, recordBits))
  file.find('192.0.2.0')

  it.each([
    ['192.0.2.0', 'DE'],
    ['192.0.2.255', 'DE'],
    ['::ffff:192.0.2.255', 'DE'],
    ['192.0.3.0', undefined],
    ['198.51.100.127', undefined],
    ['198.51.100.128', 'FR'],
    ['203.0.113.7', 'JP'],
    ['203.0.113.6', undefined],
    ['2001:db8::1', 'BR'],
    ['2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', 'BR'],
    ['2001:DB9:0:1::9', 'CA'],
    ['2001:db9:0:2::9', undefined],
    ['fe80::1%eth0', undefined],
    ['nonsense', undefined],
  ])('finds the country of %s: %s', (ip, country) => {
    expect(countryOf(file.find(ip))).toBe(country)
  })
})

it('finds no IPv6 address in a database of IPv4', () => {
  const { file } = open(databaseOf({ '32.1.0.0/16': 'DE' }, 24, 4))
  expect(countryOf(file.find('32.1.2.3'))).toBe('DE')
  expect(file.find('2001:db8::1')).toBeUndefined()
})

it.each([
  ['no database', () => Buffer.from('hello')],
  ['an empty file', () => Buffer.alloc(0)],
  ['a truncated database', () => databaseOf(NETWORKS, 24).subarray(0, -10)],
])('reports %s and finds nothing in it', (_name, content) => {
  const { file, errors } = open(content())
  expect(file.find('192.0.2.1')).toBeUndefined()
  expect(file.isKnown).toBe(false)
  expect(errors).toHaveLength(1)
})

it('loads a replaced file after a minute and keeps the old one while the new one is broken', () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const { path, file, errors } = open(databaseOf({ '192.0.2.0/24': 'DE' }))
  expect(countryOf(file.find('192.0.2.1'))).toBe('DE')

  writeFileSync(path, 'broken')
  vi.advanceTimersByTime(MINUTE_MS)
  expect(countryOf(file.find('192.0.2.1'))).toBe('DE')
  expect(errors).toHaveLength(1)

  writeFileSync(path, databaseOf({ '192.0.2.0/24': 'FR' }))
  expect(countryOf(file.find('192.0.2.1'))).toBe('DE')
  vi.advanceTimersByTime(MINUTE_MS)
  expect(countryOf(file.find('192.0.2.1'))).toBe('FR')
})

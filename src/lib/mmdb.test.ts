import { describe, expect, it } from 'vitest'
import { geoFile } from '../../test/support/geo-file.ts'
import { openGeoDatabase } from './mmdb.ts'

const NETWORKS: Record<string, string> = {
  '192.0.2.0/24': 'DE',
  '198.51.100.128/25': 'FR',
  '203.0.113.7/32': 'JP',
  '2001:db8::/32': 'BR',
  '2001:db9:0:1::/64': 'CA',
}
const countryOf = (found: unknown) =>
  (found as { country: { iso_code: string } } | undefined)?.country.iso_code

describe.each([24, 28, 32])('a database with records of %i bits', (recordBits) => {
  const database = openGeoDatabase(geoFile(NETWORKS, recordBits))

  it.each([
    ['192.0.2.0', 'DE'],
    ['192.0.2.255', 'DE'],
    ['192.0.3.0', undefined],
    ['198.51.100.127', undefined],
    ['198.51.100.128', 'FR'],
    ['203.0.113.7', 'JP'],
    ['203.0.113.6', undefined],
    ['2001:db8::1', 'BR'],
    ['2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', 'BR'],
    ['2001:DB9:0:1::9', 'CA'],
    ['2001:db9:0:2::9', undefined],
    ['nonsense', undefined],
  ])('knows where %s is', (address, country) => {
    expect(countryOf(database.find(address))).toBe(country)
  })
})

describe('a file that is none', () => {
  it('is refused, also when it is cut off', () => {
    expect(() => openGeoDatabase(Buffer.from('hello'))).toThrow('no MaxMind database')
    const file = geoFile(NETWORKS, 24)
    expect(() => openGeoDatabase(file.subarray(0, file.length - 10))).toThrow()
  })
})

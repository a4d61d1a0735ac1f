import { describe, expect, it } from 'vitest'
import { detects } from './detectors.ts'

describe.each<[string, string[], string[]]>([
  [
    'credit_card',
    [
      '4111 1111 1111 1111',
      '5555555555554444',
      '3782-822463-10005',
      'card 4111111111111111 123, thanks',
      'no 1234 4111 1111 1111 1111',
    ],
    ['4111 1111 1111 1112', '1234567890123452', 'x4111111111111111', '41111111111111111111111'],
  ],
  [
    'iban',
    [
      'DE89 3704 0044 0532 0130 00',
      'pay to GB82WEST12345698765432 please',
      'ID12 of DE89370400440532013000 it is',
      'nl91abna0417164300',
    ],
    ['DE88 3704 0044 0532 0130 00', 'ZZ89370400440532013000', 'DE89 3704'],
  ],
  [
    'us_ssn',
    ['078-05-1120', 'SSN: 219 09 9999.'],
    ['000-12-3456', '666-12-3456', '900-12-3456', '123-00-4567', '123-45-0000', '1078-05-11201'],
  ],
  ['uk_nino', ['AB 12 34 56 C', 'JG103759A'], ['BG123456A', 'AB123456E']],
  ['ca_sin', ['130-692-544', '130 692 544'], ['130-692-545', '830-692-544']],
  ['nl_bsn', ['111222333', 'BSN 123456782'], ['123456789', '1112223330']],
  ['es_dni', ['12345678Z', 'X1234567L', '12345678-z'], ['12345678A']],
  ['fr_nir', ['2 55 08 14 168 025 38', '255081416802538'], ['255081416802539']],
  ['it_codice_fiscale', ['RSSMRA85T10A562S', 'rssmra85t10a562s'], ['RSSMRA85T10A562T']],
  ['pl_pesel', ['44051401359'], ['44051401358']],
  ['br_cpf', ['529.982.247-25'], ['529.982.247-24', '111.111.111-11']],
  ['de_tax_id', ['86095742719', '47 036 892 816'], ['86095742718']],
])('detector %s', (name, real, others) => {
  it.each(real)('detects %s', (text) => expect(detects(name, text)).toBe(true))
  it.each(others)('does not detect %s', (text) => expect(detects(name, text)).toBe(false))
})

it('detectors need time linear in the length of the text', () => {
  const cost = (size: number) => {
    const text = `${'1 '.repeat(size)}${'A1'.repeat(size)}${'DE12 '.repeat(size)}`
    const begun = process.cpuUsage()
    for (const name of ['credit_card', 'iban', 'fr_nir', 'de_tax_id']) detects(name, text)
    return process.cpuUsage(begun).user
  }
  cost(1000)
  expect(cost(16_000) / cost(4000)).toBeLessThan(10)
})

import { expect, it } from 'vitest'
import { zoneFile } from './zone-file.ts'

const record = { priority: null, description: '', ttl: 3600, required: true }

it('writes names relative to the domain and splits long texts', () => {
  const key = `v=DKIM1; p=${'A'.repeat(300)}`
  const zone = zoneFile('acme.test', [
    { ...record, type: 'MX', name: 'acme.test', value: 'mail.host.', priority: 10 },
    { ...record, type: 'TXT', name: 'k._domainkey.acme.test', value: key },
    { ...record, type: 'TXT', name: 'acme.test', value: 'say "hi" \\' },
    { ...record, type: 'CNAME', name: 'other.test', value: 'acme.test.' },
  ])
  expect(zone.split('\n')).toEqual([
    '$ORIGIN acme.test.',
    '@\t3600\tIN\tMX\t10 mail.host.',
    `k._domainkey\t3600\tIN\tTXT\t"${key.slice(0, 255)}" "${key.slice(255)}"`,
    '@\t3600\tIN\tTXT\t"say \\"hi\\" \\\\"',
    'other.test.\t3600\tIN\tCNAME\tacme.test.',
    '',
  ])
})

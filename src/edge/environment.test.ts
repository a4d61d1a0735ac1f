import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readConfig } from '../config.ts'

let dataDir: string
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'mailplane-edge-env-'))
  mkdirSync(join(dataDir, 'edge'))
})
afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

const write = (lines: string[]) =>
  writeFileSync(join(dataDir, 'edge', 'edge.env'), `${lines.join('\n')}\n`)
const config = (env: Record<string, string> = {}) => readConfig({ DATA_DIR: dataDir, ...env })

const EDGE = [
  'IMAP_HOST=127.0.0.1',
  'IMAP_PORT=20993',
  'DOVEADM_URL=http://127.0.0.1:20180',
  'DOVEADM_API_KEY=a=b',
]

describe('a private edge beside the server', () => {
  it('settles nothing while there is none, or its file makes no sense', () => {
    expect(config()).toMatchObject({ IMAP_HOST: undefined, IMAP_PORT: 993 })
    write(['IMAP_PORT=many', 'PORT=1', 'garbage'])
    expect(config()).toMatchObject({ IMAP_HOST: undefined, IMAP_PORT: 993, PORT: undefined })
  })

  it('settles what is unset, also when it comes later or moves', () => {
    const settings = config()
    expect(settings.DOVEADM_URL).toBeUndefined()
    write(EDGE)
    expect(settings).toMatchObject({ IMAP_HOST: '127.0.0.1', IMAP_PORT: 20993 })
    expect(settings.DOVEADM_API_KEY).toBe('a=b')
    write([...EDGE.slice(2), 'IMAP_HOST=127.0.0.1', 'IMAP_PORT=30993'])
    expect(settings.IMAP_PORT).toBe(30993)
  })

  it('gives way to what is set, and does not mix its port or its key with another server', () => {
    write(EDGE)
    expect(config({ IMAP_HOST: 'imap.example.com' })).toMatchObject({
      IMAP_HOST: 'imap.example.com',
      IMAP_PORT: 993,
      DOVEADM_URL: 'http://127.0.0.1:20180',
    })
    const other = config({ DOVEADM_URL: 'https://dovecot.example.com' })
    expect(other.DOVEADM_API_KEY).toBeUndefined()
    expect(config({ IMAP_PORT: '143' })).toMatchObject({ IMAP_HOST: '127.0.0.1', IMAP_PORT: 143 })
  })
})

import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { waitFor } from '../../test/support/wait.ts'
import { readConfig } from '../config/index.ts'
import { watchMailServers } from './mail-servers.ts'

let dataDir: string
const watched: { close(): void }[] = []
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'mailplane-edge-env-'))
  mkdirSync(join(dataDir, 'edge'))
})
afterEach(() => {
  for (const { close } of watched.splice(0)) close()
  rmSync(dataDir, { recursive: true, force: true })
})

/** Writes the file as `mailplane edge up` does. */
const write = (lines: string[]) => {
  const file = join(dataDir, 'edge', 'edge.env')
  writeFileSync(`${file}.new`, `${lines.join('\n')}\n`)
  renameSync(`${file}.new`, file)
}
const watch = (env: Record<string, string> = {}) => {
  const mailServers = watchMailServers(readConfig({ DATA_DIR: dataDir, ...env }))
  watched.push(mailServers)
  return mailServers
}

const EDGE = [
  'IMAP_HOST=127.0.0.1',
  'IMAP_PORT=20993',
  'DOVEADM_URL=http://127.0.0.1:20180',
  'DOVEADM_API_KEY=a=b',
]

describe('the settings of the mail servers', () => {
  it('are the defaults without a private edge', () => {
    expect(watch().current()).toMatchObject({ IMAP_HOST: undefined, IMAP_PORT: 993 })
  })

  it('are the defaults when the file of the edge is malformed', () => {
    write(['IMAP_PORT=many', 'PORT=1', 'garbage'])
    const settings = watch().current()
    expect(settings).toMatchObject({ IMAP_HOST: undefined, IMAP_PORT: 993 })
    expect(settings).not.toHaveProperty('PORT')
  })

  it('follow an edge that starts later or moves', async () => {
    const mailServers = watch()
    expect(mailServers.current().DOVEADM_URL).toBeUndefined()
    write(EDGE)
    await waitFor(() => mailServers.current().IMAP_PORT === 20993)
    expect(mailServers.current()).toMatchObject({ IMAP_HOST: '127.0.0.1', DOVEADM_API_KEY: 'a=b' })
    write([...EDGE.slice(2), 'IMAP_HOST=127.0.0.1', 'IMAP_PORT=30993'])
    await waitFor(() => mailServers.current().IMAP_PORT === 30993)
  })

  it('call every listener when the edge starts again, until it is removed', async () => {
    write(EDGE)
    const mailServers = watch()
    const calls = { first: 0, second: 0 }
    const remove = mailServers.onChange(() => calls.first++)
    mailServers.onChange(() => calls.second++)
    write(EDGE)
    await waitFor(() => calls.second === 1)
    remove()
    write(EDGE)
    await waitFor(() => calls.second === 2)
    expect(calls.first).toBe(1)
  })

  it('prefer the ports of the edge to port 0, which leaves the choice open (N6, N9)', () => {
    expect(watch({ CONTENT_FILTER_PORT: '0' }).current().CONTENT_FILTER_PORT).toBe(0)
    write([...EDGE, 'CONTENT_FILTER_PORT=20025', 'POLICY_RATE_PORT=20031'])
    const env = { CONTENT_FILTER_PORT: '0', POLICY_RATE_PORT: '0' }
    expect(watch(env).current()).toMatchObject({
      CONTENT_FILTER_PORT: 20025,
      POLICY_RATE_PORT: 20031,
    })
  })

  it('prefer the variables that are set', () => {
    write(EDGE)
    expect(watch({ IMAP_PORT: '143' }).current()).toMatchObject({
      IMAP_HOST: '127.0.0.1',
      IMAP_PORT: 143,
    })
  })

  it('do not combine the port or the key of the edge with another server', () => {
    write(EDGE)
    expect(watch({ IMAP_HOST: 'imap.example.com' }).current()).toMatchObject({
      IMAP_HOST: 'imap.example.com',
      IMAP_PORT: 993,
      DOVEADM_URL: 'http://127.0.0.1:20180',
    })
    const other = watch({ DOVEADM_URL: 'https://dovecot.example.com' })
    expect(other.current().DOVEADM_API_KEY).toBeUndefined()
  })
})

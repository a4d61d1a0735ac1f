import { linkSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'

const LOGS = '/api/v1/platform/logs'
const folder = mkdtempSync(join(tmpdir(), 'mailplane-server-logs-'))
const at = (name: string) => join(folder, name)
const write = (name: string, ...lines: string[]) =>
  writeFileSync(at(name), lines.map((line) => `${line}\n`).join(''))

let app: App
let support: Awaited<ReturnType<App['operator']>>
beforeAll(async () => {
  app = await startApp({
    env: {
      MAIL_LOG_FILE: at('mail.log'),
      DOVECOT_LOG_FILE: at('dovecot.log'),
      RSPAMD_LOG_FILE: at('rspamd.log'),
    },
  })
  support = await app.operator('support')
})
afterAll(async () => {
  await app.stop()
  rmSync(folder, { recursive: true })
})
beforeEach(() => {
  write(
    'mail.log',
    '2026-11-16T08:00:01.5+00:00 mx postfix/smtpd[12]: connect from unknown[192.0.2.1]',
    '2026-11-16T08:00:02+00:00 mx postfix/smtp[13]: warning: no MX host for far.test',
    '2026-11-16T08:00:03+00:00 mx dovecot: imap-login: Login: user=<a@acme.test>',
    '2026-11-16T08:00:04+00:00 mx postfix/qmgr[14]: fatal: password=hidden',
  )
  write(
    'dovecot.log',
    '2026-11-16T08:00:02Z imap-login: Info: Login: user=<a@acme.test>, method=PLAIN',
    '2026-11-16T08:00:05Z lmtp(b@acme.test)<12><x>: Error: write(/x) failed: No space left',
    'a second line of the error',
  )
  write(
    'rspamd.log',
    '2026-11-16 08:00:01 #77(normal) <a1b2c3>; task; rspamd_task_write_log: id: <m@far.test>',
  )
})

interface Line {
  timestamp: string | null
  service: string
  level: string | null
  message: string
}
const tail = async (query: string) => {
  const answer = await support.get(`${LOGS}?${query}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.body.data as { lines: Line[]; truncated: boolean; available_services: string[] }
}

describe('the logs of the mail servers (B8)', () => {
  it('are read with time and level; a file of several servers gives the lines of one', async () => {
    const { lines } = await tail('service=postfix')
    expect(lines.map(({ timestamp, level }) => [timestamp, level])).toEqual([
      ['2026-11-16T08:00:01.500Z', 'INFO'],
      ['2026-11-16T08:00:02.000Z', 'WARNING'],
      ['2026-11-16T08:00:04.000Z', 'CRITICAL'],
    ])
    expect(lines[2]?.message).toContain('password=[redacted]')
    const dovecot = (await tail('service=dovecot')).lines
    expect(dovecot.map(({ timestamp, level }) => [timestamp, level])).toEqual([
      ['2026-11-16T08:00:02.000Z', 'INFO'],
      ['2026-11-16T08:00:05.000Z', 'ERROR'],
      [null, null],
    ])
    expect((await tail('service=rspamd')).lines).toMatchObject([
      { timestamp: '2026-11-16T08:00:01.000Z', level: null },
    ])
  })

  it('are merged by time and can be chosen as a group', async () => {
    const { lines, available_services } = await tail('source=mail_servers')
    expect(available_services).toEqual(['postfix', 'dovecot', 'rspamd'])
    expect(lines).toHaveLength(7)
    expect(new Set(lines.map(({ service }) => service))).toEqual(new Set(available_services))
    const own = await tail('source=mailplane')
    expect(own.available_services).toContain('api')
    expect(own.available_services).not.toContain('postfix')
    const all = await tail('q=')
    expect(all.available_services).toEqual(expect.arrayContaining(['api', 'postfix', 'rspamd']))
  })

  it.each([
    ['service=postfix&level=warning', 2],
    ['service=dovecot&level=error', 1],
    ['source=mail_servers&q=ACME.test', 2],
    ['source=mail_servers&since=2026-11-16T08:00:04Z', 3],
    ['source=mail_servers&lines=2', 2],
    ['service=postfix&q=hidden', 0],
  ])('are filtered: %s gives %d lines', async (query, count) => {
    expect((await tail(query)).lines).toHaveLength(count)
  })

  it('are not read through a link, which the owner of the folder could point anywhere', async () => {
    write('secret', '2026-11-16T08:00:01Z imap: Info: root only')
    for (const make of [symlinkSync, linkSync]) {
      rmSync(at('dovecot.log'))
      make(at('secret'), at('dovecot.log'))
      const answer = await support.get(`${LOGS}?service=dovecot`)
      expect(answer).toMatchObject({ status: 501, body: { type: 'error' } })
      expect(answer.text).not.toContain('root only')
    }
    rmSync(at('dovecot.log'))
  })

  it('are a 422 for another source', async () => {
    expect((await support.get(`${LOGS}?source=kernel`)).status).toBe(422)
  })
})

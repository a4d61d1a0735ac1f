import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sweep } from '../../src/features/monitoring/sweep.ts'
import { PASSWORD } from '../support/app.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { mailIn } from '../support/imap-client.ts'
import { message, openSmtp } from '../support/smtp-client.ts'
import { waitFor } from '../support/wait.ts'

// The EICAR test file in two parts, so that a scanner does not find it in this file.
const EICAR = `X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR-STANDARD-${'ANTIVIRUS-TEST-FILE!$H+H*'}`
const FOUND = 'Mailplane.Test.EICAR.UNOFFICIAL'

const attachment = (subject: string) =>
  [
    `Subject: ${subject}`,
    'From: somebody@elsewhere.test',
    'To: admin@acme.test',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=part',
    '',
    '--part',
    'Content-Type: text/plain',
    '',
    'Please open the attachment.',
    '--part',
    'Content-Type: application/octet-stream; name=invoice.com',
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from(EICAR).toString('base64'),
    '--part--',
    '',
  ].join('\r\n')

describe.skipIf(edgeMissing)(`mail with a virus (B4.12)${skipped}`, () => {
  let host: MailHost
  let admin: Awaited<ReturnType<MailHost['app']['operator']>>
  beforeAll(async () => {
    // Viruses are held even where no spam is.
    host = await startMailHost({ env: { SPAM_QUARANTINE_SCORE: '0' } })
    await host.app.tenant('acme')
    admin = await host.app.operator('admin')
  })
  afterAll(() => host.stop())

  const held = async (subject: string) => {
    const { body } = await admin.get('/api/v1/message-trace/quarantine')
    return body.data.messages.filter((one: { subject: string }) => one.subject === subject)
  }
  const receive = async (subject: string, text: string) => {
    const client = await openSmtp({ port: host.ports.smtp })
    const reply = await client.send({
      from: 'somebody@elsewhere.test',
      to: 'admin@acme.test',
      text,
    })
    client.quit()
    return { code: reply.code, rows: await held(subject) }
  }
  const stopScanner = async () => {
    process.kill(host.pids().Clamd as number, 'SIGKILL')
    await waitFor(() => host.pids().Clamd === undefined)
  }

  it.each([
    ['in an attachment', 'attached', attachment('attached')],
    ['as the text', 'inline', message('somebody@elsewhere.test', 'a@acme.test', 'inline', EICAR)],
  ])('is quarantined with the name of the virus: %s', async (_where, subject, text) => {
    const { code, rows } = await receive(subject, text)
    expect(code).toBe(250)
    expect(rows).toMatchObject([
      { reason: 'virus', virus_name: FOUND, recipient: 'admin@acme.test', status: 'quarantined' },
    ])
    await host.receive('admin@acme.test', `after ${subject}`)
    await host.arrived('admin@acme.test', `after ${subject}`)
    const inbox = await mailIn(host.ports.imaps, 'admin@acme.test', PASSWORD)
    expect(inbox.join('\r\n')).not.toContain(`Subject: ${subject}\r\n`)
  })

  it('is rejected when a login sends it', async () => {
    const client = await host.submission()
    expect((await client.auth('admin@acme.test', PASSWORD)).code).toBe(235)
    const to = 'friend@elsewhere.test'
    const reply = await client.send({
      from: 'admin@acme.test',
      to,
      text: message('admin@acme.test', to, 'outgoing', EICAR),
    })
    client.quit()
    expect(reply.text).toMatch(/^554 5\.7\.1 the message contains a virus: Mailplane\.Test\.EICAR/)
  })

  it('passes while the scanner is down, which monitoring reports and repairs', async () => {
    await stopScanner()
    expect((await host.receive('admin@acme.test', 'unscanned')).code).toBe(250)
    await host.arrived('admin@acme.test', 'unscanned')
    await waitFor(async () => {
      await sweep(host.app.core)
      const { services } = (await admin.get('/api/v1/monitoring/services')).body.data
      return services.clamd?.status === 'down'
    })
    const down = await host.app.core.db
      .selectFrom('events')
      .selectAll()
      .where('event', '=', 'health.service.down')
      .execute()
    expect(JSON.stringify(down)).toContain('clamd')
    const healed = await admin.post('/api/v1/monitoring/auto-heal', { reason: 'a test' })
    expect(healed.body.data.actions_taken).toContainEqual(
      expect.objectContaining({ service: 'clamd', action: 'restarted' }),
    )
    expect((await receive('repaired', attachment('repaired'))).rows).toHaveLength(1)
  })
})

describe.skipIf(edgeMissing)(`the virus scanner by its settings${skipped}`, () => {
  it('defers mail while it is down with EDGE_ANTIVIRUS_FAIL_OPEN=false', async () => {
    const host = await startMailHost({ env: { EDGE_ANTIVIRUS_FAIL_OPEN: 'false' } })
    try {
      await host.app.tenant('acme')
      // Repeated, because monitoring may restart the scanner in between.
      const reply = await waitFor(async () => {
        const pid = host.pids().Clamd
        if (pid !== undefined) process.kill(pid, 'SIGKILL')
        const { code, text } = await host.receive('admin@acme.test', 'later')
        return code !== 250 && text
      })
      expect(reply).toMatch(/^451 .*virus scanner does not respond/)
      await host.up()
      expect((await host.receive('admin@acme.test', 'again')).text).toMatch(/^250 /)
    } finally {
      await host.stop()
    }
  })

  it('does not run with EDGE_ANTIVIRUS=false', async () => {
    const host = await startMailHost({ env: { EDGE_ANTIVIRUS: 'false' } })
    try {
      expect(Object.keys(host.pids())).toEqual(['Rspamd', 'Postfix', 'Dovecot'])
      expect(existsSync(host.edge.settings.folders.clamavConfig)).toBe(false)
      await host.app.tenant('acme')
      expect((await host.receive('admin@acme.test', 'unscanned')).code).toBe(250)
    } finally {
      await host.stop()
    }
  })
})

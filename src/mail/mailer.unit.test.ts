import { expect, onTestFinished, test } from 'vitest'
import { mailServersOf } from '../../test/support/mail-server-settings.ts'
import { startSink } from '../../test/support/smtp-sink.ts'
import { mailer } from './mailer.ts'

const base = {
  SMTP_HOST: undefined,
  SMTP_PORT: 25,
  SMTP_TLS: 'opportunistic' as const,
  SMTP_TLS_VERIFY: true,
  SMTP_USER: undefined,
  SMTP_PASSWORD: undefined,
  SMTP_PASSWORD_FILE: undefined,
  ALERT_FROM_ADDRESS: undefined,
  ADMIN_EMAIL: 'admin@host.test',
  SVC_MAIL_HOSTNAME: 'mail.host.test',
}
const nowhere = mailServersOf({})
const mail = { to: ['ops@example.test'], subject: 'Queue is long', text: 'It is.\n.\nReally.' }

async function sink() {
  const started = await startSink()
  onTestFinished(() => started.stop())
  return started
}

test('sending system mail without a mail server fails with the name of the missing setting', async () => {
  await expect(mailer(base, nowhere).send(mail)).rejects.toThrow('set SMTP_HOST')
})

test('system mail goes to SMTP_HOST, or without it to the reinject listener of the edge', async () => {
  const { got, port } = await sink()
  await mailer({ ...base, SMTP_HOST: '127.0.0.1', SMTP_PORT: port }, nowhere).send(mail)
  const edge = mailServersOf({ MAIL_REINJECT_HOST: '127.0.0.1', MAIL_REINJECT_PORT: String(port) })
  await mailer({ ...base, ALERT_FROM_ADDRESS: 'alerts@host.test' }, edge).send(mail)
  expect(got.map(({ from, to }) => ({ from, to }))).toEqual([
    { from: 'admin@host.test', to: ['ops@example.test'] },
    { from: 'alerts@host.test', to: ['ops@example.test'] },
  ])
  expect(got[0]?.data).toContain('Subject: Queue is long')
  expect(got[0]?.data).toContain('It is.\r\n.\r\nReally.')
})

test('the error for refused system mail contains the reply of the server', async () => {
  const { port } = await sink()
  const sending = mailer({ ...base, SMTP_HOST: '127.0.0.1', SMTP_PORT: port }, nowhere)
  await expect(sending.send({ ...mail, to: ['nobody@reject.test'] })).rejects.toThrow('5.1.1')
})

test('a line break in the subject of system mail adds no header', async () => {
  const { got, port } = await sink()
  const sending = mailer({ ...base, SMTP_HOST: '127.0.0.1', SMTP_PORT: port }, nowhere)
  await sending.send({ ...mail, subject: 'One\r\nBcc: victim@example.test' })
  expect(got[0]?.to).toEqual(['ops@example.test'])
  expect(got[0]?.data).not.toMatch(/^bcc:/im)
})

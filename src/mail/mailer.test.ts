import { expect, onTestFinished, test } from 'vitest'
import { startSink } from '../../test/support/smtp-sink.ts'
import { mailer } from './mailer.ts'

const base = {
  SMTP_HOST: undefined,
  SMTP_PORT: 25,
  MAIL_REINJECT_HOST: undefined,
  MAIL_REINJECT_PORT: 10026,
  ALERT_FROM_ADDRESS: undefined,
  ADMIN_EMAIL: 'admin@host.test',
  SVC_MAIL_HOSTNAME: 'mail.host.test',
}
const mail = { to: ['ops@example.test'], subject: 'Queue is long', text: 'It is.\n.\nReally.' }

async function sink() {
  const started = await startSink()
  onTestFinished(() => started.stop())
  return started
}

test('without a mail server the error says what to set', async () => {
  await expect(mailer(base).send(mail)).rejects.toThrow('set SMTP_HOST')
})

test('mail goes to SMTP_HOST, else to where the edge takes mail', async () => {
  const { got, port } = await sink()
  await mailer({ ...base, SMTP_HOST: '127.0.0.1', SMTP_PORT: port }).send(mail)
  const edge = { ...base, MAIL_REINJECT_HOST: '127.0.0.1', MAIL_REINJECT_PORT: port }
  await mailer({ ...edge, ALERT_FROM_ADDRESS: 'alerts@host.test' }).send(mail)
  expect(got.map(({ from, to }) => ({ from, to }))).toEqual([
    { from: 'admin@host.test', to: ['ops@example.test'] },
    { from: 'alerts@host.test', to: ['ops@example.test'] },
  ])
  expect(got[0]?.data).toContain('Subject: Queue is long')
  expect(got[0]?.data).toContain('It is.\r\n.\r\nReally.')
})

test('a refusal is told in the words of the server', async () => {
  const { port } = await sink()
  const sending = mailer({ ...base, SMTP_HOST: '127.0.0.1', SMTP_PORT: port })
  await expect(sending.send({ ...mail, to: ['nobody@reject.test'] })).rejects.toThrow('5.1.1')
})

test('a line break in a subject adds no header', async () => {
  const { got, port } = await sink()
  const sending = mailer({ ...base, SMTP_HOST: '127.0.0.1', SMTP_PORT: port })
  await sending.send({ ...mail, subject: 'One\r\nBcc: victim@example.test' })
  expect(got[0]?.to).toEqual(['ops@example.test'])
  expect(got[0]?.data).not.toMatch(/^bcc:/im)
})

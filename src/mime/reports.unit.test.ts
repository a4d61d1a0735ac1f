import { expect, it } from 'vitest'
import { MimeMessage } from './message.ts'
import { readFeedbackReport } from './reports.ts'

const read = (text: string) => readFeedbackReport(new MimeMessage(Buffer.from(text)))
const head = 'From: a@isp.test\nContent-Type: multipart/report; boundary=b\n\n'
const fields = '--b\nContent-Type: message/feedback-report\n\nFeedback-Type: abuse\n'

it.each([
  ['nothing', ''],
  ['no multipart', 'Content-Type: text/plain\n\nFeedback-Type: abuse'],
  ['no boundary', 'Content-Type: multipart/report\n\n--b\n'],
  ['no report', `${head}--b\nContent-Type: text/plain\n\nx\n--b--`],
  ['no type', `${head}--b\nContent-Type: message/feedback-report\n\nVersion: 1\n--b--`],
  ['an odd type', `${head}--b\nContent-Type: message/feedback-report\n\nFeedback-Type: <b>\n--b--`],
])('does not read a feedback report from a message with %s', (_what, text) => {
  expect(read(text)).toBeUndefined()
})

it('reads a feedback report with bare line feeds, no closing boundary and no original message', () => {
  expect(read(`${head}${fields}`)).toEqual({
    feedback_type: 'abuse',
    reporter: 'a@isp.test',
    complaint_recipient: undefined,
    original_recipient: undefined,
    original_sender: undefined,
    email_id: undefined,
    subject: undefined,
  })
})

it('ignores a recipient of a feedback report that is not an e-mail address', () => {
  const rcpt = (value: string) =>
    read(`${head}${fields}Original-Rcpt-To: ${value}\n\n--b--`)?.original_recipient
  expect(rcpt('<Ada@Far.test>')).toBe('ada@far.test')
  for (const none of ['', '<>', 'redacted', 'a@b@c', 'a b@c.test', `${'x'.repeat(300)}@far.test`]) {
    expect(rcpt(none)).toBeUndefined()
  }
})

it('reads hostile feedback reports in linear time', () => {
  const begun = process.cpuUsage()
  const parts = `--b\n${'<'.repeat(1000)}\n`.repeat(500)
  read(`${head}${parts}`)
  read(`${head}${fields}Original-Rcpt-To: ${'<@'.repeat(100_000)}\n`)
  read(`Content-Type: multipart/report; ${'boundary= '.repeat(20_000)}\n\n`)
  read(`${head}${fields}${'\n '.repeat(100_000)}x`)
  expect(process.cpuUsage(begun).user).toBeLessThan(2_000_000)
})

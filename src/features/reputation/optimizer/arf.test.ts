import { expect, it } from 'vitest'
import { parseFeedbackReport } from './arf.ts'

const head = 'From: a@isp.test\nContent-Type: multipart/report; boundary=b\n\n'
const fields = '--b\nContent-Type: message/feedback-report\n\nFeedback-Type: abuse\n'

it.each([
  ['nothing', ''],
  ['no multipart', 'Content-Type: text/plain\n\nFeedback-Type: abuse'],
  ['no boundary', 'Content-Type: multipart/report\n\n--b\n'],
  ['no report', `${head}--b\nContent-Type: text/plain\n\nx\n--b--`],
  ['no type', `${head}--b\nContent-Type: message/feedback-report\n\nVersion: 1\n--b--`],
  ['an odd type', `${head}--b\nContent-Type: message/feedback-report\n\nFeedback-Type: <b>\n--b--`],
])('is no report: %s', (_what, text) => {
  expect(parseFeedbackReport(text)).toBeUndefined()
})

it('is one with bare line ends, without an end, and without the message', () => {
  expect(parseFeedbackReport(`${head}${fields}`)).toEqual({
    feedback_type: 'abuse',
    reporter: 'a@isp.test',
    complaint_recipient: undefined,
    original_recipient: undefined,
    original_sender: undefined,
    email_id: undefined,
    subject: undefined,
  })
})

it('takes no address that is none', () => {
  const rcpt = (value: string) =>
    parseFeedbackReport(`${head}${fields}Original-Rcpt-To: ${value}\n\n--b--`)?.original_recipient
  expect(rcpt('<Ada@Far.test>')).toBe('ada@far.test')
  for (const none of ['', '<>', 'redacted', 'a@b@c', 'a b@c.test', `${'x'.repeat(300)}@far.test`]) {
    expect(rcpt(none)).toBeUndefined()
  }
})

it('does not take long over what is made to be slow', () => {
  const begun = performance.now()
  const parts = `--b\n${'<'.repeat(1000)}\n`.repeat(500)
  parseFeedbackReport(`${head}${parts}`)
  parseFeedbackReport(`${head}${fields}Original-Rcpt-To: ${'<@'.repeat(100_000)}\n`)
  parseFeedbackReport(`Content-Type: multipart/report; ${'boundary= '.repeat(20_000)}\n\n`)
  parseFeedbackReport(`${head}${fields}${'\n '.repeat(100_000)}x`)
  expect(performance.now() - begun).toBeLessThan(2000)
})

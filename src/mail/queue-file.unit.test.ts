import { expect, it } from 'vitest'
import { readQueueFile } from './queue-file.ts'

const OUTPUT = `*** ENVELOPE RECORDS deferred/A/4jTNnC4k4vzKqHG ***
message_size:             260             241               1               0             260
named_attribute: sasl_username=jane@acme.test
sender: a@acme.test
named_attribute: dsn_orig_rcpt=rfc822;b@far.test
original_recipient: b@far.test
recipient: b@far.test
done_recipient: c@far.test
*** MESSAGE CONTENTS deferred/A/4jTNnC4k4vzKqHG ***
Received: by mail.queue.test (Postfix, from userid 0)
\tid 4jTNnC4k4vzKqHG; Tue, 17 Nov 2026 12:09:03 +0000 (UTC)
Subject: sender: x@evil.test
X-Strange :two: parts
*** HEADER EXTRACTED deferred/A/4jTNnC4k4vzKqHG ***
*** MESSAGE FILE END deferred/A/4jTNnC4k4vzKqHG ***
`

it('reads the envelope and the header, and takes no envelope from a header', () => {
  expect(readQueueFile(OUTPUT, false)).toEqual({
    sender: 'a@acme.test',
    recipients: ['b@far.test'],
    headers: [
      {
        name: 'Received',
        value:
          'by mail.queue.test (Postfix, from userid 0)\n\tid 4jTNnC4k4vzKqHG; Tue, 17 Nov 2026 12:09:03 +0000 (UTC)',
      },
      { name: 'Subject', value: 'sender: x@evil.test' },
      { name: 'X-Strange', value: 'two: parts' },
    ],
    truncated: false,
  })
})

it('reads what is there of an output that was cut', () => {
  const cut = OUTPUT.slice(0, OUTPUT.indexOf('X-Strange'))
  expect(readQueueFile(cut, true)).toMatchObject({
    headers: [{ name: 'Received' }, { name: 'Subject' }],
    truncated: true,
  })
  expect(readQueueFile('', true)).toEqual({
    sender: '',
    recipients: [],
    headers: [],
    truncated: true,
  })
})

import { describe, expect, it } from 'vitest'
import { emailOf, merged } from './draft-email.ts'

const file = (blobId: string) => ({ blobId, name: 'a.csv', type: 'text/csv', size: 8 })
const draft = {
  identity: { id: 'i1', name: '', email: 'jane@acme.test', textSignature: '' },
  to: [{ email: 'bob@acme.test' }],
  cc: [],
  bcc: [],
  subject: 'Figures',
  text: 'Hello',
  attachments: [file('U1')],
  inReplyTo: null,
  references: null,
}

describe('a draft', () => {
  it('is a message in the folder for drafts, without empty fields', () => {
    expect(emailOf(draft, 'd')).toMatchObject({
      mailboxIds: { d: true },
      keywords: { $draft: true, $seen: true },
      from: [{ name: null, email: 'jane@acme.test' }],
      to: [{ email: 'bob@acme.test' }],
      cc: null,
      bcc: null,
      bodyValues: { text: { value: 'Hello' } },
      attachments: [{ blobId: 'U1', name: 'a.csv', type: 'text/csv', disposition: 'attachment' }],
    })
  })

  it('refers to the files of the stored message, also when others came and went meanwhile', () => {
    const [first, second, third] = [file('U1'), file('U2'), file('U3')]
    const stored = [file('B1'), file('B2')]
    expect(merged([second, third], [first, second], stored)).toEqual([file('B2'), third])
    expect(merged([first], [first], [])).toEqual([first])
  })
})

import { describe, expect, it } from 'vitest'
import { answerTo, identityFor, quoted, withSignature } from './reply.ts'

const me = { id: 'i1', name: 'Jane', email: 'jane@acme.test', textSignature: '' }
const alias = { id: 'i2', name: 'Sales', email: 'sales@acme.test', textSignature: '' }
const ada = { name: 'Ada', email: 'ada@elsewhere.test' }
const bob = { email: 'bob@elsewhere.test' }
const original = {
  from: [ada],
  to: [{ email: 'Jane@acme.test' }, bob],
  cc: [{ email: 'cc@elsewhere.test' }],
  replyTo: null,
  subject: 'Lunch',
  messageId: ['2@x'],
  references: ['1@x'],
}

describe('an answer', () => {
  it('goes to the sender and continues the thread', () => {
    expect(answerTo(original, 'reply', [me])).toEqual({
      to: [ada],
      cc: [],
      subject: 'Re: Lunch',
      inReplyTo: ['2@x'],
      references: ['1@x', '2@x'],
    })
  })

  it('goes to the address for replies where there is one', () => {
    expect(answerTo({ ...original, replyTo: [bob] }, 'reply', [me]).to).toEqual([bob])
    expect(answerTo({ ...original, replyTo: [] }, 'reply', [me]).to).toEqual([ada])
  })

  it('to all leaves out the own addresses and names nobody twice', () => {
    const { to, cc } = answerTo({ ...original, cc: [ada, bob, alias] }, 'all', [me, alias])
    expect([to, cc]).toEqual([[ada], [bob]])
  })

  it("to a message of one's own goes to those who got it", () => {
    const sent = { ...original, from: [me], to: [bob], cc: [ada] }
    expect(answerTo(sent, 'reply', [me]).to).toEqual([bob])
    expect(answerTo(sent, 'all', [me])).toMatchObject({ to: [bob], cc: [ada] })
    const toMyself = { ...original, from: [me], to: [me], cc: [] }
    expect(answerTo(toMyself, 'reply', [me]).to).toEqual([me])
  })

  it.each([
    ['Lunch', 'reply', 'Re: Lunch'],
    ['Re: AW: re:Lunch', 'reply', 'Re: Lunch'],
    ['Fwd: Lunch', 'reply', 'Re: Fwd: Lunch'],
    ['WG: Fw: Lunch', 'forward', 'Fwd: Lunch'],
    ['Re: Lunch', 'forward', 'Fwd: Re: Lunch'],
    [null, 'reply', 'Re:'],
  ] as const)('to %s as %s has the subject %s', (subject, kind, expected) => {
    expect(answerTo({ ...original, subject }, kind, [me]).subject).toBe(expected)
  })

  it('that forwards starts a thread of its own', () => {
    expect(answerTo(original, 'forward', [me])).toMatchObject({ to: [], inReplyTo: null })
  })

  it('to a message without an id has no references', () => {
    const lost = { ...original, messageId: null, references: null }
    expect(answerTo(lost, 'reply', [me]).references).toBeNull()
  })

  it('is sent as the address that the message was sent to', () => {
    expect(identityFor({ ...original, to: [alias] }, [me, alias])).toBe(alias)
    expect(identityFor({ from: null, to: null, cc: null }, [me, alias])).toBe(me)
  })
})

it('quotes without the signature, and marks older quotes once more', () => {
  expect(quoted('Hello\r\n\r\n> older\r\n-- \r\nJane\r\n')).toBe('> Hello\n>\n>> older')
  expect(quoted('')).toBe('>')
})

it('puts the signature below the text where there is one', () => {
  expect(withSignature('Hello', 'Jane\n')).toBe('Hello\n\n-- \nJane')
  expect(withSignature('Hello', ' ')).toBe('Hello')
})

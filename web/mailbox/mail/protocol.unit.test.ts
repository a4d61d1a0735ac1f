import { describe, expect, it } from 'vitest'
import { Answers, filled } from './protocol.ts'

describe('the answers of a request', () => {
  it('are found by the id of the call, the own answer before implied ones', () => {
    const answers = new Answers([
      ['EmailSubmission/set', { created: { s: { id: 'S1' } } }, 's'],
      ['Email/set', { updated: {} }, 's'],
    ])
    expect(answers.set('s').created).toEqual({ s: { id: 'S1' } })
  })

  it('throw the error of a call in its words', () => {
    const answers = new Answers([
      ['error', { type: 'serverUnavailable', description: 'The mail server is away' }, 'a'],
      ['error', { type: 'invalidArguments' }, 'b'],
    ])
    expect(() => answers.get('a')).toThrow(
      expect.objectContaining({ status: 503, message: 'The mail server is away' }),
    )
    expect(() => answers.get('b')).toThrow(
      expect.objectContaining({ status: 400, message: 'Invalid arguments' }),
    )
    expect(answers.optional('b')).toBeUndefined()
    expect(() => answers.get('none')).toThrow(expect.objectContaining({ status: 503 }))
  })

  it.each(['notCreated', 'notUpdated', 'notDestroyed'])('throw a change of %s', (list) => {
    const error = { type: 'overQuota', description: 'No room is left' }
    const answers = new Answers([['Email/set', { [list]: { x: error } }, 's']])
    expect(() => answers.set('s')).toThrow('No room is left')
  })

  it('accept that what was to be removed is gone', () => {
    const answers = new Answers([['Email/set', { notDestroyed: { x: { type: 'notFound' } } }, 's']])
    expect(answers.set('s')).toBeDefined()
  })
})

it('fills a URL of the session without its host', () => {
  expect(
    filled('https://mail.test/jmap/download/{accountId}/{blobId}/{name}?accept={type}', {
      accountId: 'a/b',
      blobId: 'B1',
      name: 'Ä & b.pdf',
      type: 'application/pdf',
    }),
  ).toBe('/jmap/download/a%2Fb/B1/%C3%84%20%26%20b.pdf?accept=application%2Fpdf')
})

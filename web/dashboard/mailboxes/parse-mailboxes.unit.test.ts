import { expect, it } from 'vitest'
import { makePassword, parseMailboxes } from './parse-mailboxes.ts'

it('reads addresses with names and passwords, and makes missing passwords', () => {
  const { mailboxes, badLine } = parseMailboxes(
    'email,name,password\njane@x.test, Jane Doe, secret-1\r\n\n"ada@x.test";"Borg, ""Ada"""\nbob@x.test\n',
    () => 'made',
  )
  expect(badLine).toBeUndefined()
  expect(mailboxes).toEqual([
    { email: 'jane@x.test', name: 'Jane Doe', password: 'secret-1' },
    { email: 'ada@x.test', name: 'Borg, "Ada"', password: 'made' },
    { email: 'bob@x.test', name: null, password: 'made' },
  ])
})

it('names the first line that has no address', () => {
  expect(parseMailboxes('a@x.test\nnonsense\n', () => '').badLine).toBe(2)
})

it('says which lines have a problem', () => {
  const { lines, mailboxes } = parseMailboxes('a@x.test\nA@x.test,A,own\nnonsense', () => 'made')
  expect(lines).toEqual([
    { line: 1, email: 'a@x.test', name: '', hasPassword: false },
    { line: 2, email: 'A@x.test', name: 'A', hasPassword: true, problem: 'twice' },
    { line: 3, email: 'nonsense', name: '', hasPassword: false, problem: 'noAddress' },
  ])
  expect(mailboxes).toEqual([{ email: 'a@x.test', name: null, password: 'made' }])
})

it('makes passwords that the server accepts', () => {
  for (let count = 0; count < 100; count++) {
    expect(makePassword()).toMatch(/^(?=.*\d)(?=.*[a-zA-Z])[a-zA-Z\d]{16}$/)
  }
})

import { expect, it } from 'vitest'
import { losersOf } from './acl-rights.ts'

const entry = (id: string, ...rights: string[]) => ({ id, rights })

it('names the users with a right that they are not allowed', () => {
  const current = [
    entry('owner', 'lookup', 'read', 'expunge'),
    entry('user=same@acme.test', 'read', 'lookup'),
    entry('user=more@acme.test', 'lookup'),
    entry('user=less@acme.test', 'lookup', 'read', 'expunge'),
    entry('user=none@acme.test', 'lookup'),
    entry('user=empty@acme.test'),
  ]
  const allowed = [
    entry('user=same@acme.test', 'lookup', 'read'),
    entry('user=more@acme.test', 'lookup', 'read'),
    entry('user=less@acme.test', 'lookup', 'read'),
    entry('user=new@acme.test', 'lookup', 'read'),
  ]
  expect(losersOf(current, allowed)).toEqual(['less@acme.test', 'none@acme.test'])
})

it('names no user for an entry that stands for several', () => {
  const current = ['anyone', 'authenticated', 'group=staff', 'user=*', 'user=?@acme.test']
  expect(
    losersOf(
      current.map((id) => entry(id, 'read')),
      [],
    ),
  ).toEqual([])
})

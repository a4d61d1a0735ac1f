import { expect, it } from 'vitest'
import { parseDatabaseHosts } from './database-hosts.ts'

it('reads one host without asking for a primary', () => {
  const url = 'postgres://me:secret@db.example:5433/mail?sslmode=require'
  expect(parseDatabaseHosts(url)).toEqual({ targets: [url], needsPrimary: false })
})

it('reads a list of hosts, of which only the primary will do', () => {
  const url = 'postgresql://me:s%40@one:5432,[2001:db8::2]:5433,three/mail?sslmode=require'
  expect(parseDatabaseHosts(`${url}&target_session_attrs=read-write`)).toEqual({
    targets: [
      'postgresql://me:s%40@one:5432/mail?sslmode=require',
      'postgresql://me:s%40@[2001:db8::2]:5433/mail?sslmode=require',
      'postgresql://me:s%40@three/mail?sslmode=require',
    ],
    needsPrimary: true,
  })
  expect(parseDatabaseHosts('postgres://one,two/mail')?.needsPrimary).toBe(true)
  expect(parseDatabaseHosts('postgres://one/mail?target_session_attrs=primary')).toEqual({
    targets: ['postgres://one/mail'],
    needsPrimary: true,
  })
})

it('refuses malformed lists and lists that could lead to a replica', () => {
  for (const url of [
    'mysql://one/mail',
    'postgres://one,,two/mail',
    'postgres://one:port/mail',
    'postgres://one,two/mail?target_session_attrs=any',
    'postgres://one/mail?target_session_attrs=standby',
  ]) {
    expect(parseDatabaseHosts(url)).toBeUndefined()
  }
})

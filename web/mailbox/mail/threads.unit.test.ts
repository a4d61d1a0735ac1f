import { describe, expect, it } from 'vitest'
import { folderOf, orderedFolders } from './folders.ts'
import { rowsOf, shownPeople } from './threads.ts'
import type { Folder, Summary } from './types.ts'

const email = (id: string, more: Partial<Summary> = {}): Summary => ({
  id,
  blobId: `B${id}`,
  threadId: 't1',
  mailboxIds: { inbox: true },
  keywords: { $seen: true },
  from: [{ name: 'Ada Lovelace', email: 'ada@x.test' }],
  to: null,
  cc: null,
  subject: 'Lunch',
  receivedAt: '2026-11-17T10:00:00Z',
  hasAttachment: false,
  preview: '',
  ...more,
})

describe('a line of the list', () => {
  const thread = { id: 't1', emailIds: ['1', '2', '3'] }
  const members = [
    email('1', { keywords: {}, from: [{ email: 'bob@x.test' }] }),
    email('2', { mailboxIds: { sent: true }, from: [{ name: 'Jane', email: 'jane@x.test' }] }),
    email('3', { keywords: { $seen: true, $flagged: true } }),
  ]

  it('sums up the messages of the thread in the folder', () => {
    const [row] = rowsOf([email('3')], [thread], members, 'inbox')
    expect(row).toMatchObject({ count: 3, ids: ['1', '3'], isUnread: true, isFlagged: true })
    expect(row?.people.map((one) => one.email)).toEqual(['bob@x.test', 'jane@x.test', 'ada@x.test'])
  })

  it('has every message of the thread where no folder is shown', () => {
    const [row] = rowsOf([email('3')], [thread], members, undefined)
    expect(row?.ids).toEqual(['1', '2', '3'])
  })

  it('knows its newest message where the others were not read', () => {
    const [row] = rowsOf([email('3', { keywords: {} })], [thread], undefined, 'inbox')
    expect(row).toMatchObject({ count: 3, ids: ['3'], isUnread: true, isFlagged: false })
  })
})

it('shows a few people by first names and counts the others', () => {
  const person = (name: string) => ({ name, email: `${name.toLowerCase()}@x.test` })
  expect(shownPeople([])).toBe('')
  expect(shownPeople([person('Ada Lovelace')])).toBe('Ada Lovelace')
  expect(shownPeople([{ email: 'bob@x.test' }, person('Ada Lovelace')])).toBe('bob@x.test, Ada')
  expect(shownPeople(['A', 'B', 'C', 'D', 'E'].map(person))).toBe('A, B, C, +2')
})

describe('folders', () => {
  const folder = (id: string, more: Partial<Folder> = {}): Folder => ({
    id,
    name: id,
    parentId: null,
    role: null,
    sortOrder: 0,
    totalThreads: 0,
    unreadThreads: 0,
    unreadEmails: 0,
    myRights: { mayDelete: true, mayRename: true },
    ...more,
  })

  it('come with those of a role first, and children below their parents', () => {
    const all = [
      folder('zebra'),
      folder('trash', { role: 'trash' }),
      folder('child', { parentId: 'apple' }),
      folder('apple'),
      folder('inbox', { role: 'inbox' }),
      folder('lost', { parentId: 'gone' }),
    ]
    expect(orderedFolders(all).map(({ id, depth }) => `${depth}${id}`)).toEqual([
      '0inbox',
      '0trash',
      '0apple',
      '1child',
      '0lost',
      '0zebra',
    ])
    expect(folderOf(all, 'trash')?.id).toBe('trash')
  })
})

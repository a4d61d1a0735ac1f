import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readEntry } from './entries.ts'
import { entrySet } from './entry-set.ts'
import { feedTable, isListed } from './feed-table.ts'
import readFeed from './read-feed.task.ts'

const folder = mkdtempSync(join(tmpdir(), 'mailplane-feed-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('an entry', () => {
  it.each([
    ['Evil.Test', { host: 'evil.test' }],
    ['*.evil.test', { host: 'evil.test' }],
    ['https://evil.test/', { host: 'evil.test' }],
    ['münchen.test', { host: 'xn--mnchen-3ya.test' }],
    ['203.0.113.9', { host: '203.0.113.9' }],
    ['evil.test/a/', { prefix: 'evil.test/a' }],
    ['http://evil.test:8080', { prefix: 'evil.test:8080' }],
    ['https://evil.test/%61?b', { prefix: 'evil.test/a?b' }],
    ['evil', undefined],
    ['https://u:p@evil.test/', undefined],
    ['not a host', undefined],
    ['', undefined],
  ])('is read as it is compared: %j', (text, expected) => {
    expect(readEntry(text)).toEqual(expected)
  })

  it('covers what is below it, and nothing beside it', () => {
    const list = entrySet([
      { entry_type: 'domain', entry: 'evil.test' },
      { entry_type: 'url', entry: 'shop.test/bad' },
      { entry_type: 'allowlist', entry: 'good.evil.test' },
    ])
    const blocks = (url: string) => list.blocks(new URL(url))
    expect(blocks('https://evil.test/x')).toBe(true)
    expect(blocks('https://a.b.evil.test.')).toBe(true)
    expect(blocks('https://notevil.test/')).toBe(false)
    expect(blocks('http://shop.test/bad?x=1')).toBe(true)
    expect(blocks('https://user@shop.test/%62ad/more#x')).toBe(true)
    expect(blocks('https://shop.test/badly')).toBe(false)
    expect(blocks('https://shop.test:8443/bad')).toBe(false)
    expect(list.allows(new URL('https://x.good.evil.test/'))).toBe(true)
  })
})

describe('a feed file', () => {
  it('has hosts, prefixes, comments and lines of a file of hosts', async () => {
    const path = join(folder, 'feed.txt')
    const lines = [
      '# list',
      'evil.test',
      '0.0.0.0 worse.test # why',
      '',
      'http://x.test/a/b',
      'no host',
      '203.0.113.9',
      'MÜNCHEN.test',
    ]
    writeFileSync(path, lines.join('\r\n'))
    const { table, unread } = await readFeed(path)
    expect({ entries: table.entries, unread }).toEqual({ entries: 5, unread: 1 })
    for (const name of [
      'evil.test',
      'worse.test',
      'x.test/a/b',
      '203.0.113.9',
      'xn--mnchen-3ya.test',
    ]) {
      expect(isListed(table, name), name).toBe(true)
    }
    expect(isListed(table, 'x.test')).toBe(false)
  })

  it('of 200,000 hosts contains each of them and no other', () => {
    const names = Array.from({ length: 200_000 }, (_, n) => `host-${n}.evil.test`)
    const table = feedTable([...names, ...names])
    expect(table.entries).toBe(names.length)
    expect(names.every((name) => isListed(table, name))).toBe(true)
    expect(names.some((name) => isListed(table, `x${name}`))).toBe(false)
    expect(isListed(feedTable([]), 'evil.test')).toBe(false)
  })
})

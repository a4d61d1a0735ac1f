import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hueAndChroma } from './brand.ts'
import { operatorMay, tenantMay } from './may.ts'
import { wayBack } from './sessions.ts'
import { visible } from './visible.ts'

describe('texts that people typed', () => {
  it('show characters that would be invisible or reorder the text', () => {
    expect(visible('photo\u202egnp.exe')).toBe('photo[U+202E]gnp.exe')
    expect(visible('a\u200bb\u0000c\ufeff')).toBe('a[U+200B]b[U+0000]c[U+FEFF]')
    expect(visible('Ünïcödé עברית 日本')).toBe('Ünïcödé עברית 日本')
  })
})

describe('the way back after a sign-in', () => {
  it.each([
    ['/app/mailboxes?q=a', '/app/mailboxes?q=a'],
    ['/app', '/app'],
    ['//evil.example/app', '/app'],
    ['https://evil.example/app/', '/app'],
    ['/application', '/app'],
    ['/console', '/app'],
    ['javascript:alert(1)', '/app'],
    [null, '/app'],
  ])('of %s is %s', (next, to) => {
    expect(wayBack('dashboard', next)).toBe(to)
  })
})

describe('the permissions of a role', () => {
  it('follows the levels of the API', () => {
    expect(tenantMay('read_only', 'read')).toBe(true)
    expect(tenantMay('read_only', 'write')).toBe(false)
    expect(tenantMay('admin', 'admin')).toBe(true)
    expect(tenantMay('owner', 'admin')).toBe(true)
    expect(tenantMay('something new', 'write')).toBe(false)
    expect(operatorMay('support', 'support')).toBe(true)
    expect(operatorMay('support', 'read')).toBe(true)
    expect(operatorMay('support', 'write')).toBe(false)
    expect(operatorMay('operator', 'write')).toBe(true)
    expect(operatorMay('operator', 'admin')).toBe(false)
    expect(operatorMay('owner', 'owner')).toBe(true)
  })
})

describe('the colour of a brand', () => {
  it('gives hue and chroma, and nothing for other texts', () => {
    expect(hueAndChroma('#ff0000')).toEqual({ hue: 29, chroma: 0.258 })
    expect(hueAndChroma('#808080')?.chroma).toBeLessThan(0.001)
    expect(hueAndChroma('red; --bg: url(x)')).toBeUndefined()
  })
})

describe('figures', () => {
  let format: typeof import('./format.ts')
  beforeAll(async () => {
    Object.assign(globalThis, { LANGUAGE: 'en', document: { cookie: '' } })
    format = await import('./format.ts')
  })
  // Other files of the lane run in the same process.
  afterAll(() => {
    Reflect.deleteProperty(globalThis, 'LANGUAGE')
    Reflect.deleteProperty(globalThis, 'document')
  })

  it('show sizes in powers of 1024', () => {
    expect(format.bytes(0)).toBe('0 B')
    expect(format.bytes(1024 ** 3)).toBe('1 GiB')
    expect(format.bytes(1.5 * 1024 ** 2)).toBe('1.5 MiB')
    expect(format.bytes(1023)).toBe('1,023 B')
  })

  it('show times relative to now', () => {
    const now = Date.parse('2026-11-16T12:00:00Z')
    expect(format.relative('2026-11-16T11:59:58Z', now)).toBe('2 seconds ago')
    expect(format.relative('2026-11-16T09:00:00Z', now)).toBe('3 hours ago')
    expect(format.relative('2026-11-17T12:00:00Z', now)).toBe('tomorrow')
  })
})

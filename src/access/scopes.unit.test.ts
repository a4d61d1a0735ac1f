import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { AREAS, areaOf, contains, highestLevel, permits } from './scopes.ts'

describe('scopes of API keys', () => {
  it('name every area that has a route for keys, and no other', () => {
    const routes = readFileSync(new URL('../../openapi/routes.txt', import.meta.url), 'utf8')
    const areas = [...routes.matchAll(/^\S+ +(\S+) {2}Key\(/gm)].map(([, path]) => areaOf(path))
    expect([...new Set(areas)].sort()).toEqual([...AREAS])
  })

  it('permit the lower levels, in their area only', () => {
    const scopes = ['domains:write', 'mailboxes:read']
    expect(permits(scopes, 'read', 'domains')).toBe(true)
    expect(permits(scopes, 'write', 'domains')).toBe(true)
    expect(permits(scopes, 'admin', 'domains')).toBe(false)
    expect(permits(scopes, 'write', 'mailboxes')).toBe(false)
    expect(permits(scopes, 'read', 'aliases')).toBe(false)
    expect(permits(scopes, 'read')).toBe(false)
    expect(permits(['read', 'domains:write'], 'read', 'aliases')).toBe(true)
    expect(permits([], 'read', 'domains')).toBe(false)
  })

  it('are contained in wider ones only', () => {
    expect(contains(['write'], ['domains:write', 'read'])).toBe(true)
    expect(contains(['write'], ['admin'])).toBe(false)
    expect(contains(['domains:admin'], ['write'])).toBe(false)
    expect(contains(['domains:admin'], ['domains:read', 'mailboxes:read'])).toBe(false)
  })

  it('have the highest level of any of them', () => {
    expect(highestLevel(['domains:read'])).toBe('read')
    expect(highestLevel(['read', 'domains:write'])).toBe('write')
    expect(highestLevel(['domains:admin', 'read'])).toBe('admin')
  })
})

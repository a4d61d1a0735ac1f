import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const folder = new URL('../../dist/web/', import.meta.url)
const names = readdirSync(folder)
const brotli = (start: string) =>
  names
    .filter((name) => name.startsWith(start) && name.endsWith('.br'))
    .map((name) => [name, readFileSync(new URL(name, folder)).length] as const)

const KB = 1000

describe('the weight of the web app, with brotli', () => {
  it.each([
    ['start-', 20 * KB],
    ['setup-', 60 * KB],
    ['app-', 60 * KB],
    ['console-', 60 * KB],
    ['mailbox-', 60 * KB],
    ['style-', 10 * KB],
  ])('of %s* is at most %i bytes', (start, limit) => {
    const found = brotli(start)
    expect(found.length).toBeGreaterThan(0)
    for (const [name, bytes] of found) expect(bytes, name).toBeLessThanOrEqual(limit)
  })

  it('contains one language only', () => {
    const script = (start: string) => {
      const name = names.find((one) => one.startsWith(start) && one.endsWith('.js'))
      return readFileSync(new URL(name ?? '', folder), 'utf8')
    }
    expect(script('app-en-')).toContain('Sign out')
    expect(script('app-en-')).not.toContain('Abmelden')
    expect(script('app-de-')).toContain('Abmelden')
    expect(script('app-de-')).not.toContain('Sign out')
  })
})

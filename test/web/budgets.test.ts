import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const folder = new URL('../../dist/web/', import.meta.url)
const names = readdirSync(folder)
const manifest = JSON.parse(readFileSync(new URL('manifest.json', folder), 'utf8'))
/** The files that a surface loads at its start. */
const startOf = (language: string, surface: string): string[] => {
  const script = manifest.scripts[language][surface]
  return [script, ...manifest.imports[script]]
}
const brotli = (files: readonly string[]) =>
  files.reduce((sum, name) => sum + readFileSync(new URL(`${name}.br`, folder)).length, 0)

const KB = 1000
const LANGUAGES = Object.keys(manifest.scripts)

describe('the weight of the web app, with brotli', () => {
  it.each([
    ['start', 20 * KB],
    ['setup', 60 * KB],
    ['app', 60 * KB],
    ['console', 60 * KB],
    ['mailbox', 60 * KB],
  ])('of the scripts at the start of %s is at most %i bytes', (surface, limit) => {
    for (const language of LANGUAGES) {
      const files = startOf(language, surface)
      expect(brotli(files), files.join(' ')).toBeLessThanOrEqual(limit)
    }
  })

  it.each([
    ['app', 30 * KB],
    ['console', 30 * KB],
  ])('of what %s loads on demand is at most %i bytes', (surface, limit) => {
    for (const language of LANGUAGES) {
      const start = startOf(language, surface)
      const later = names.filter(
        (name) =>
          name.startsWith(`${surface}-${language}-`) &&
          name.endsWith('.js') &&
          !start.includes(name),
      )
      expect(later).toHaveLength(1)
      expect(brotli(later), later.join(' ')).toBeLessThanOrEqual(limit)
    }
  })

  it('of the style is at most 10 kB', () => {
    expect(brotli([manifest.style])).toBeLessThanOrEqual(10 * KB)
  })

  it('contains one language only', () => {
    const script = (start: string) =>
      names
        .filter((one) => one.startsWith(start) && one.endsWith('.js'))
        .map((name) => readFileSync(new URL(name, folder), 'utf8'))
        .join('')
    expect(script('app-en-')).toContain('Sign out')
    expect(script('app-en-')).not.toContain('Abmelden')
    expect(script('app-de-')).toContain('Abmelden')
    expect(script('app-de-')).not.toContain('Sign out')
  })
})

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { variables } from '../src/config.ts'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
const documented = [...read('docs/configuration.md').matchAll(/^\| `([A-Z_]+)` +\| (.+?) +\|/gm)]
const defaults = new Map(documented.map(([, name = '', fallback = '']) => [name, fallback]))

describe('docs/configuration.md', () => {
  it('has every variable of src/config.ts once, and no other', () => {
    expect(documented.map(([, name]) => name).sort()).toEqual(Object.keys(variables).sort())
  })

  it.each(Object.entries(variables))('says the default of %s', (name, { fallback }) => {
    const [first = ''] = (defaults.get(name) ?? '').split(/[:;]/)
    expect(first.replaceAll('`', '')).toBe(written(fallback))
  })

  it('says what the container image sets instead', () => {
    const image = /^ENV (.*)$/m.exec(read('deploy/Dockerfile'))?.[1]?.split(' ') ?? []
    const told = [...defaults].flatMap(([name, text]) => {
      const value = /; (\S+) in the container image$/.exec(text)?.[1]
      return value === undefined ? [] : [`${name}=${value.replaceAll('`', '')}`]
    })
    expect(told.sort()).toEqual(image.filter((one) => !one.startsWith('NODE_ENV=')).sort())
  })
})

const written = (fallback: unknown): string => {
  if (fallback === undefined) return 'unset'
  // An empty list and an empty text read alike.
  return String(fallback) === '' ? 'empty' : String(fallback)
}

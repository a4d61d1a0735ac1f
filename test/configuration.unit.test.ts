import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { variables } from '../src/config/index.ts'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
const documented = [...read('docs/configuration.md').matchAll(/^\| `([A-Z0-9_]+)` +\| (.+?) +\|/gm)]
const defaults = new Map(documented.map(([, name = '', fallback = '']) => [name, fallback]))

describe('docs/configuration.md', () => {
  it('lists every variable of src/config/ once, and no other', () => {
    expect(documented.map(([, name]) => name).sort()).toEqual(Object.keys(variables).sort())
  })

  it.each(Object.entries(variables))('states the default of %s', (name, { fallback }) => {
    const [first = ''] = (defaults.get(name) ?? '').split(/[:;]/)
    expect(first.replaceAll('`', '')).toBe(written(fallback))
  })

  it('states the values that the container image sets', () => {
    const image = /^ENV (.*)$/m.exec(read('deploy/Dockerfile'))?.[1]?.split(' ') ?? []
    const stated = [...defaults].flatMap(([name, text]) => {
      const value = /; (\S+) in the container image$/.exec(text)?.[1]
      return value === undefined ? [] : [`${name}=${value.replaceAll('`', '')}`]
    })
    expect(stated.sort()).toEqual(image.filter((one) => !one.startsWith('NODE_ENV=')).sort())
  })
})

const written = (fallback: unknown): string => {
  if (fallback === undefined) return 'unset'
  // An empty list and an empty text look alike in the table.
  return String(fallback) === '' ? 'empty' : String(fallback)
}

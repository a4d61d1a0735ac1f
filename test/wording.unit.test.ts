import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { variables } from '../src/config/index.ts'
import { eventCatalogue } from '../src/events/events.ts'
import { declareEvents } from '../src/features/index.ts'
import { filesIn, ROOT } from './support/documentation.ts'

const CLAUSE =
  '(?:What|How|Whether|Who|Whom|Whose|Where|When|Which|Why|Those|All that|Nobody|Somebody)(?:ever)?\\b'
const begins = new RegExp(`^${CLAUSE}`)
// The first line of a comment: a later one may begin with any word of a sentence.
const comment = new RegExp(`(?:/\\*\\*\\s+(?:\\* )?|(?<!//.*\\n\\s*)// )${CLAUSE}.*`, 'g')

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** Descriptions and summaries at any depth. */
const describedIn = (value: unknown): string[] => {
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([name, inner]) =>
    typeof inner === 'string' && ['description', 'summary'].includes(name)
      ? [inner]
      : describedIn(inner),
  )
}

// "Number of messages", not "How many messages there are".
describe('a text begins with its subject, not with a relative clause:', () => {
  it('descriptions of the API', () => {
    const texts = describedIn(JSON.parse(read('openapi/v1.json')))
    expect(texts.length).toBeGreaterThan(1000)
    expect(texts.filter((text) => begins.test(text))).toEqual([])
  })

  it('descriptions of events', async () => {
    await declareEvents()
    const texts = describedIn(eventCatalogue())
    expect(texts.length).toBeGreaterThan(100)
    expect(texts.filter((text) => begins.test(text))).toEqual([])
  })

  it('descriptions of variables', () => {
    expect(describedIn(variables).filter((text) => begins.test(text))).toEqual([])
    const table = /^\| `[A-Z0-9_]+` +\|.*?\| (.*)$/gm
    const meanings = [...read('docs/configuration.md').matchAll(table)].map(([, text = '']) => text)
    expect(meanings.length).toBeGreaterThanOrEqual(Object.keys(variables).length)
    expect(meanings.filter((text) => begins.test(text))).toEqual([])
  })

  it('comments', () => {
    const files = ['src', 'web', 'test', 'bench', 'scripts'].flatMap((folder) =>
      ['.ts', '.tsx', '.mjs'].flatMap((ending) => filesIn(folder, ending)),
    )
    expect(files.length).toBeGreaterThan(1000)
    expect(files.flatMap((path) => read(path).match(comment) ?? [])).toEqual([])
  })
})

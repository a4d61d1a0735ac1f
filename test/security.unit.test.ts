import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Page, pages, ROOT, sectionOf } from './support/documentation.ts'

const page = pages.find(({ path }) => path === 'SECURITY.md') as Page

/** The test files that each row of the tables of promises names. */
const promises = sectionOf(page, 'Promises and their tests')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (Promise|-+) /.test(line))
  .map((line) => ({
    line,
    tests: [...line.matchAll(/`((?:src|test)\/[^`]+)`/g)].map(([, file = '']) => file),
  }))

it('deploy/compose.yaml publishes ports on loopback only (S23)', () => {
  const compose = readFileSync(`${ROOT}deploy/compose.yaml`, 'utf8')
  const published = [...compose.matchAll(/^\s+- "([\d.:]+)"$/gm)].map(([, port]) => port)
  expect(published).toEqual([expect.stringMatching(/^127\.0\.0\.1:\d+:\d+$/)])
})

describe('SECURITY.md', () => {
  it('names for each promise at least one test file, and only files that exist (S26)', () => {
    expect(promises.length).toBeGreaterThan(30)
    const untested = promises.filter(({ tests }) => tests.length === 0)
    expect(untested).toEqual([])
    const missing = promises
      .flatMap(({ tests }) => tests)
      .filter((file) => !/\.test\.ts$/.test(file) || !existsSync(ROOT + file))
    expect(missing).toEqual([])
  })
})

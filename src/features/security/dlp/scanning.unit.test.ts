import { expect, it } from 'vitest'
import { isFileType } from './file-types.ts'
import { keywordTest } from './keywords.ts'
import { plainly, windowsOf } from './scanning.ts'

it.each([
  ['secret', 'A Secret!', true],
  ['secret', 'secretary', false],
  ['secret', 'topsecret', false],
  ['project x', 'the Project\r\n   X papers', true],
  ['c++', 'we use c++17', true],
  ['机密', '这是机密文件', true],
  ['straße', 'STRASSE', false],
  ['ＳＥＣＲＥＴ', 'secret', true],
])('keyword %s matches %s: %s', (keyword, text, matches) => {
  expect(keywordTest(keyword)(text)).toBe(matches)
})

it('plainly removes invisible characters and normalizes wide digits', () => {
  const { text } = plainly({ where: 'body', text: 'se\u200bcr\u00adet ４１１１' })
  expect(text).toBe('secret 4111')
})

it.each([
  ['exe', 'setup.EXE', 'application/octet-stream', true],
  ['.exe', 'setup.exe. ', 'text/plain', true],
  ['exe', 'exe', 'text/plain', false],
  ['image/*', 'x', 'image/png', true],
  ['application/pdf', 'x.pdf', 'application/octet-stream', false],
])('file type %s matches %s of type %s: %s', (pattern, name, type, matches) => {
  expect(isFileType({ name, type }, pattern)).toBe(matches)
})

const numbered = (many: number, end: string) =>
  Array.from({ length: many }, (_, index) => `${100_000 + index}${end}`).join('')

it.each([
  ['short lines', numbered(20_000, '\n')],
  ['one line', numbered(20_000, ' ')],
  ['longer lines', numbered(200, `${'y'.repeat(900)}\n`)],
])('windows of %s cover the text with an overlap', (_, text) => {
  let covered = 0
  for (const window of windowsOf(text)) {
    expect(window.length).toBeLessThanOrEqual(16 * 1024)
    const from = covered === 0 ? 0 : text.indexOf(window, Math.max(0, covered - 2048))
    // Text shorter than the overlap must lie completely in one window.
    if (covered > 0) expect(covered - from).toBeGreaterThanOrEqual(1024)
    expect(text.slice(from, from + window.length)).toBe(window)
    covered = from + window.length
  }
  expect(covered).toBe(text.length)
})

it('splits a line of 20 million characters in less than two seconds of CPU time', () => {
  const begun = process.cpuUsage()
  expect([...windowsOf('x'.repeat(20_000_000))].length).toBeGreaterThan(1000)
  expect(process.cpuUsage(begun).user).toBeLessThan(2_000_000)
})

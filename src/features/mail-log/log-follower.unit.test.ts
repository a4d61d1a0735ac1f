import {
  appendFileSync,
  copyFileSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { followLog, type Position } from './log-follower.ts'

const START: Position = { head: Buffer.alloc(0), inode: '', offset: 0, at: new Date() }

let folder: string
let path: string
let open: ReturnType<typeof followLog>[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mailplane-log-'))
  path = join(folder, 'mail.log')
  open = []
})
afterEach(async () => {
  for (const follower of open) await follower.close()
  rmSync(folder, { recursive: true })
})

/** Reads all available lines and keeps the position, as the database does. */
function reader(from: Position = START, portionBytes = 64) {
  const follower = followLog(path, from, portionBytes)
  open.push(follower)
  let position = from
  return {
    get position() {
      return position
    },
    async read(): Promise<string> {
      let text = ''
      for (;;) {
        const portion = await follower.next()
        if (!portion) return text
        position = { ...portion.after, at: new Date() }
        text += portion.bytes.toString()
      }
    },
  }
}

const write = (text: string) => appendFileSync(path, text)
const gzip = (from: string, to: string) => {
  writeFileSync(to, gzipSync(readFileSync(from)))
  rmSync(from)
}
/** Long enough to identify a file by its first bytes. */
const lines = (name: string, count = 10) =>
  Array.from({ length: count }, (_, n) => `${name} line ${n} of some length\n`).join('')

it('reads an unfinished line only after it is complete', async () => {
  write('one\ntw')
  const log = reader()
  expect(await log.read()).toBe('one\n')
  expect(log.position.offset).toBe(4)
  write('o\n')
  expect(await log.read()).toBe('two\n')
})

it('reads a line that is longer than a portion', async () => {
  const long = `${'x'.repeat(1000)}\n`
  write(`a\n${long}b\n`)
  expect(await reader().read()).toBe(`a\n${long}b\n`)
})

it('continues at the position that another reader stored', async () => {
  write(lines('first'))
  const before = reader()
  await before.read()
  write('more\n')
  expect(await reader(before.position).read()).toBe('more\n')
})

it('reads a renamed file to its end while the new file is empty', async () => {
  write('one\n')
  const log = reader()
  expect(await log.read()).toBe('one\n')
  renameSync(path, `${path}.1`)
  appendFileSync(`${path}.1`, 'two\n')
  expect(await log.read()).toBe('two\n')
  writeFileSync(path, '')
  appendFileSync(`${path}.1`, 'three\nunfinished')
  expect(await log.read()).toBe('three\n')
  write('four\n')
  expect(await log.read()).toBe('unfinishedfour\n')
})

it('reads a file to its end that is renamed and compressed in one step', async () => {
  write('one\n')
  const log = reader()
  expect(await log.read()).toBe('one\n')
  write('two\n')
  gzip(path, `${path}.20261115-080000.gz`)
  write('three\n')
  expect(await log.read()).toBe('two\nthree\n')
})

it.each([false, true])(
  'finds a file that was renamed while no reader ran (compressed: %s)',
  async (zip) => {
    write(lines('first'))
    const before = reader()
    await before.read()
    write('tail of the first\n')
    if (zip) gzip(path, `${path}.2.gz`)
    else renameSync(path, `${path}.2`)
    writeFileSync(`${path}.1`, lines('second'))
    write(lines('third'))
    expect(await reader(before.position).read()).toBe(
      `tail of the first\n${lines('second')}${lines('third')}`,
    )
  },
)

it('continues in the middle of a compressed file', async () => {
  write(lines('first', 50))
  const before = reader()
  await before.read()
  write(lines('more', 50))
  gzip(path, `${path}.1.gz`)
  write('live\n')
  const halfway = followLog(path, before.position, 64)
  const { after, bytes } = (await halfway.next()) ?? {}
  await halfway.close()
  const position = { ...after, at: new Date() } as Position
  expect(bytes?.toString() + (await reader(position).read())).toBe(`${lines('more', 50)}live\n`)
})

it('starts at the beginning after the file was truncated', async () => {
  write(lines('first'))
  const log = reader()
  await log.read()
  truncateSync(path)
  expect(await log.read()).toBe('')
  write('short\n')
  expect(await log.read()).toBe('short\n')
})

it('detects a truncated file that has grown longer than it was', async () => {
  write(lines('first'))
  const log = reader()
  await log.read()
  writeFileSync(path, lines('other', 30))
  expect(await log.read()).toBe(lines('other', 30))
})

it('reads the rest from the copy after the file was copied and truncated', async () => {
  write(lines('first'))
  const log = reader()
  await log.read()
  write('tail\n')
  copyFileSync(path, `${path}.1`)
  truncateSync(path)
  write('new\n')
  expect(await log.read()).toBe('tail\nnew\n')
})

it('reads a new file from its start although it has the inode of the old one', async () => {
  write(lines('first'))
  const before = reader()
  await before.read()
  const { inode } = before.position
  writeFileSync(path, lines('other', 30))
  expect(await reader({ ...before.position, inode }).read()).toBe(lines('other', 30))
})

it('reads the current file from its start when the old file was deleted', async () => {
  write(lines('first'))
  const before = reader()
  await before.read()
  rmSync(path)
  write(lines('second'))
  expect(await reader(before.position).read()).toBe(lines('second'))
})

it('ignores rotated files at the first start', async () => {
  writeFileSync(`${path}.1`, lines('old'))
  write('new\n')
  expect(await reader().read()).toBe('new\n')
})

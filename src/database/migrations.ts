import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sha256 } from '../lib/tokens.ts'
import { PROJECT } from '../project.ts'

export const MIGRATIONS_FOLDER = fileURLToPath(new URL('migrations', PROJECT))

export interface MigrationFile {
  name: string
  text: string
  checksum: string
  /** False for statements that PostgreSQL refuses in a transaction, such as concurrent indexes. */
  isInTransaction: boolean
  /** False when the previous version cannot run on the schema that the file makes. */
  isCompatible: boolean
}

// Marks are comment lines of their own, before the first statement.
const MARK = /^-- migrate: (.*)$/
const MARKS = ['outside a transaction', 'incompatible'] as const

/** The migrations of this version, in order. */
export const knownMigrations = (folder = MIGRATIONS_FOLDER): MigrationFile[] =>
  migrationNames(folder).map((name) => {
    const text = readFileSync(join(folder, name), 'utf8')
    const marks = marksOf(name, text)
    return {
      name,
      text,
      checksum: sha256(text),
      isInTransaction: !marks.has('outside a transaction'),
      isCompatible: !marks.has('incompatible'),
    }
  })

export const migrationNames = (folder = MIGRATIONS_FOLDER): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()

function marksOf(name: string, text: string): Set<string> {
  const marks = new Set<string>()
  for (const line of commentOf(text)) {
    const mark = MARK.exec(line)?.[1]
    if (mark === undefined) continue
    if (!MARKS.some((known) => known === mark)) throw new Error(`${name} has the mark ${mark}`)
    marks.add(mark)
  }
  return marks
}

/** The first sentence of the comment that a file begins with. */
export const purposeOf = (text: string): string =>
  commentOf(text)
    .filter((line) => !MARK.test(line))
    .map((line) => line.replace(/^--\s*/, ''))
    .join(' ')
    .replace(/(?<=[.:]) .*$/, '')

const commentOf = (text: string): string[] => {
  const lines = text.split('\n')
  const end = lines.findIndex((line) => !line.startsWith('--'))
  return end === -1 ? lines : lines.slice(0, end)
}

/** The statements of a file that runs outside a transaction; each ends with a line. */
export const statementsOf = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => !line.startsWith('--'))
    .join('\n')
    .split(/;[ \t]*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')

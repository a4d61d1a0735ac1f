import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export interface Page {
  /** Relative to the project folder. */
  path: string
  text: string
}

/** A fenced block of a page. */
export interface Block {
  language: string
  text: string
}

/** The files of a folder with this ending, as paths from the project folder. */
export const filesIn = (folder: string, ending: string, recursive = true): string[] =>
  readdirSync(join(ROOT, folder), { recursive, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name))

/** Every page that people write, and the generated ones. */
export const pages: readonly Page[] = [
  ...filesIn('.', '.md', false),
  ...filesIn('docs', '.md'),
  ...filesIn('deploy', '.md'),
]
  .sort()
  .map((path) => ({ path, text: readFileSync(ROOT + path, 'utf8') }))

const FENCE = /^[ ]*```(\w*)\n([\s\S]*?)^[ ]*```$/gm

export const blocksOf = (text: string): Block[] =>
  [...text.matchAll(FENCE)].map(([, language = '', block = '']) => ({ language, text: block }))

export const proseOf = (text: string): string => text.replace(FENCE, '')

/** The text between a heading of the second level and the next one. */
export function sectionOf({ path, text }: Page, heading: string): string {
  const [, after] = text.split(`\n## ${heading}\n`)
  if (after === undefined) throw new Error(`${path} has no section "${heading}"`)
  return after.split(/^## /m)[0] ?? ''
}

/** Commands of a shell block or of a terminal session, one per line. */
export function commandsOf({ language, text }: Block): string[] {
  const lines = text.replace(/\\\n\s*/g, '').split('\n')
  return language === 'sh' ? lines : lines.filter((line) => line.startsWith('$ '))
}

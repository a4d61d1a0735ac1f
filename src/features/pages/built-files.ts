import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartupError } from '../../startup-error.ts'

/** A built file as almost every browser asks for it; the gzip form also yields the plain one. */
export interface BuiltFile {
  type: string
  gzip: Buffer
  brotli: Buffer
}

/** The names of the hashed files: a script for each surface and language, one style sheet. */
export interface Manifest {
  scripts: Record<string, Record<string, string>>
  /** Files that a script imports at its start, by the name of the script. */
  imports: Record<string, string[]>
  style: string
}

export interface BuiltFiles {
  manifest: Manifest
  files: ReadonlyMap<string, BuiltFile>
}

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Reads the output of web/build.mjs into memory. No request ever becomes a path on the disk. */
export function readBuiltFiles(folder: string): BuiltFiles {
  if (!existsSync(join(folder, 'manifest.json'))) {
    throw new StartupError(`the web app is not built (${folder}); run: npm run build`)
  }
  const files = new Map<string, BuiltFile>()
  for (const name of readdirSync(folder)) {
    const type = TYPES[name.slice(name.lastIndexOf('.'))]
    if (type === undefined) continue
    const read = (ending: string) => readFileSync(join(folder, name + ending))
    files.set(name, { type, gzip: read('.gz'), brotli: read('.br') })
  }
  const manifest: Manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
  return { manifest, files }
}

import { readdirSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** One figure of the printed table. */
export interface Row {
  what: string
  value: string
  /** The value to reach, in words; shown beside it. */
  aim?: string
}

const say = (text: string) => process.stdout.write(`${text}\n`)

/**
 * Runs the files of a folder of bench/. The default export of each is a function that measures one part;
 * names on the command line choose some of them.
 */
export async function measureParts(folderName: string): Promise<void> {
  const folder = join(import.meta.dirname, folderName)
  const chosen = process.argv.slice(2).filter((word) => !word.startsWith('--'))
  say(`Node ${process.versions.node}, ${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}`)
  for (const file of readdirSync(folder).sort()) {
    const name = basename(file, '.ts')
    if (!file.endsWith('.ts') || (chosen.length > 0 && !chosen.includes(name))) continue
    const { default: measure } = await import(pathToFileURL(join(folder, file)).href)
    if (typeof measure !== 'function') continue
    say(`\n${name}`)
    for (const { what, value, aim } of (await measure()) as Row[]) {
      say(`  ${what.padEnd(48)} ${value}${aim === undefined ? '' : `  (aim: ${aim})`}`)
    }
  }
}

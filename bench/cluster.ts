import { readdirSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ClusterRow } from './cluster/row.ts'

/**
 * Measures several processes and machines. Each file of bench/cluster/ whose default export is a
 * function measures one part; names on the command line choose some of them.
 */
const folder = join(import.meta.dirname, 'cluster')
const chosen = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const say = (text: string) => process.stdout.write(`${text}\n`)

say(`Node ${process.versions.node}, ${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}`)
for (const file of readdirSync(folder).sort()) {
  const name = basename(file, '.ts')
  if (!file.endsWith('.ts') || (chosen.length > 0 && !chosen.includes(name))) continue
  const { default: measure } = await import(pathToFileURL(join(folder, file)).href)
  if (typeof measure !== 'function') continue
  say(`\n${name}`)
  for (const { what, value, aim } of (await measure()) as ClusterRow[]) {
    say(`  ${what.padEnd(48)} ${value}${aim === undefined ? '' : `  (aim: ${aim})`}`)
  }
}

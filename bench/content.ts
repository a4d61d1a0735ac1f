import { readdirSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ContentRow } from './content/row.ts'

/**
 * Measures the services around the content of mail. Each file of bench/content/ whose default export is
 * a function measures one service; names on the command line choose some of them.
 */
const folder = join(import.meta.dirname, 'content')
const chosen = process.argv.slice(2)
const say = (text: string) => process.stdout.write(`${text}\n`)

say(`Node ${process.versions.node}, ${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}`)
for (const file of readdirSync(folder).sort()) {
  const name = basename(file, '.ts')
  if (!file.endsWith('.ts') || (chosen.length > 0 && !chosen.includes(name))) continue
  const { default: measure } = await import(pathToFileURL(join(folder, file)).href)
  if (typeof measure !== 'function') continue
  say(`\n${name}`)
  for (const { what, value, aim } of (await measure()) as ContentRow[]) {
    say(`  ${what.padEnd(48)} ${value}${aim === undefined ? '' : `  (aim: ${aim})`}`)
  }
}

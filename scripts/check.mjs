// Checks format, lint rules, layers and types, that no landed migration was changed, that the generated
// files are current, and that every stored or accepted field is read.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { bundledNode, prepare, root } from './prepare.mjs'

await prepare()
const node = bundledNode() ?? process.execPath
// The compiler on one thread, with rare garbage collection, takes half the processor time.
const FRUGAL = ['--singleThreaded']
const env = { ...process.env, GOGC: '400' }
const steps = [
  [join('node_modules', '@biomejs', 'biome', 'bin', 'biome'), 'check', '.'],
  [join('node_modules', 'typescript', 'bin', 'tsc'), '--project', 'tsconfig.test.json', ...FRUGAL],
  [join('node_modules', 'typescript', 'bin', 'tsc'), '--project', 'web', ...FRUGAL],
  [join('scripts', 'migrations.mjs'), '--check'],
  [join('scripts', 'db-types.mjs'), '--check'],
  [join('scripts', 'openapi.mjs'), '--check'],
  [join('scripts', 'web-types.mjs'), '--check'],
  [join('scripts', 'events.mjs'), '--check'],
  [join('scripts', 'monitoring.mjs'), '--check'],
  [join('scripts', 'unread-fields.mjs')],
]
for (const [file, ...args] of steps) {
  const { status } = spawnSync(node, [join(root, file), ...args], {
    cwd: root,
    env,
    stdio: 'inherit',
  })
  if (status !== 0) process.exitCode = 1
}

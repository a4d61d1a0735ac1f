// Runs the benchmark on the bundled Node, which reads TypeScript as it is, against the server as built.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { bundledNode, prepare, root } from './prepare.mjs'

await prepare()
const run = [join(root, 'bench', 'run.ts'), ...process.argv.slice(2)]
const { status } = spawnSync(bundledNode() ?? process.execPath, run, { stdio: 'inherit' })
process.exitCode = status ?? 1

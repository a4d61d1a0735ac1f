#!/usr/bin/env node
// Starts Mailplane from a fresh clone: installs what is missing, builds what has changed, then runs.
// Plain JavaScript on purpose, with nothing but Node's own modules: it runs before anything is there.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundledNode, prepare, root } from './prepare.mjs'

await prepare()

// Kept for commands whose launcher is not npm: paths such as DATA_DIR are relative to the project.
process.chdir(root)

const node = bundledNode()
if (node === undefined) {
  await import(pathToFileURL(join(root, 'dist', 'main.js')).href)
} else {
  // Only on the first start: later ones find the bundled Node on npm's path and run on it directly.
  const child = spawn(node, [join(root, 'dist', 'main.js'), ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    process.stderr.write(`mailplane: cannot run ${node}: ${error.message}\n`)
    process.exit(1)
  })
  child.on('exit', (code) => process.exit(code ?? 1))
}

#!/usr/bin/env node
// Starts Mailplane from a fresh clone: installs missing packages, builds changed sources, then runs.
// Plain JavaScript with Node's own modules only, because it runs before the packages are installed.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundledNode, prepare, root } from './prepare.mjs'

await prepare()

// Relative paths such as DATA_DIR refer to the project folder, also without npm as launcher.
process.chdir(root)

const node = bundledNode()
if (node === undefined) {
  await import(pathToFileURL(join(root, 'dist', 'main.js')).href)
} else {
  // First start only: later starts find the bundled Node in npm's PATH and run on it directly.
  const program = [...process.execArgv, join(root, 'dist', 'main.js')]
  const child = spawn(node, [...program, ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    process.stderr.write(`mailplane: cannot run ${node}: ${error.message}\n`)
    process.exit(1)
  })
  child.on('exit', (code) => process.exit(code ?? 1))
}

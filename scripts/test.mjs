// Runs the lanes named on the command line, or all of them, and prints the counts at the end.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installChromium } from './chromium.mjs'
import { installClients } from './clients.mjs'
import { installMailServers } from './mail-servers.mjs'
import { bundledNode, prepare, root } from './prepare.mjs'

await prepare()
const lanes = process.argv.slice(2)
if (lanes.length === 0 || lanes.includes('mail')) await installMailServers()
if (lanes.length === 0 || lanes.includes('web')) installChromium()
// All lanes together use the programs that are there, because mail programs are large.
if (lanes.includes('clients')) installClients()

const node = bundledNode() ?? process.execPath
const folder = mkdtempSync(join(tmpdir(), 'mailplane-report-'))
const report = join(folder, 'report.json')
// Node keeps compiled modules for the next process and the next run.
const env = {
  ...process.env,
  NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compiled'),
  // A lane that is asked for by name also runs its longest tests.
  MAILPLANE_LANES: lanes.join(),
}
const run = (file, args) => spawnSync(node, [file, ...args], { cwd: root, env, stdio: 'inherit' })

// The checks run first, because an outdated generated file explains many failures.
const checks = lanes.length === 0 ? run(join(root, 'scripts', 'check.mjs'), []).status : 0
const { status } = run(join(root, 'node_modules', 'vitest', 'vitest.mjs'), [
  'run',
  ...lanes.flatMap((lane) => ['--project', lane]),
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${report}`,
])
let counts = { numPassedTests: 0, numFailedTests: 1, numPendingTests: 0 }
try {
  counts = JSON.parse(readFileSync(report, 'utf8'))
} catch {
  process.stderr.write('the test run left no report\n')
}
rmSync(folder, { recursive: true, force: true })
const failed = counts.numFailedTests + (checks === 0 ? 0 : 1)
process.stdout.write(
  `${counts.numPassedTests} passed, ${failed} failed, ${counts.numPendingTests} skipped\n`,
)
process.exitCode = status === 0 && checks === 0 ? 0 : 1

// Runs the lanes named on the command line, or all of them, and prints the counts at the end.
import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
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
const folder = mkdtempSync(join(temporaryFolder(), 'mailplane-tests-'))
// The mail servers of the tests run as other users.
chmodSync(folder, 0o1777)
const report = join(folder, 'report.json')
const env = {
  ...process.env,
  TMPDIR: folder,
  // Node keeps compiled modules for the next process and the next run.
  NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compiled'),
  // A lane that is asked for by name also runs its longest tests.
  MAILPLANE_LANES: lanes.join(),
}

// The checks run beside the tests, whose lanes begin by waiting for servers. Their output comes
// at the end, where it is seen.
const checks = lanes.length === 0 ? run([join('scripts', 'check.mjs')], 'pipe') : { status: 0 }
const tests = run(
  [
    join('node_modules', 'vitest', 'vitest.mjs'),
    'run',
    ...lanes.flatMap((lane) => ['--project', lane]),
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
  ],
  'inherit',
)
const { status } = await tests
const { status: checked, output = '' } = await checks
process.stdout.write(output)

let counts = { numPassedTests: 0, numFailedTests: 1, numPendingTests: 0 }
try {
  counts = JSON.parse(readFileSync(report, 'utf8'))
} catch {
  process.stderr.write('the test run left no report\n')
}
rmSync(folder, { recursive: true, force: true })
if (checked !== 0) process.stdout.write('npm run check failed: see above\n')
const failed = counts.numFailedTests + (checked === 0 ? 0 : 1)
process.stdout.write(
  `${counts.numPassedTests} passed, ${failed} failed, ${counts.numPendingTests} skipped\n`,
)
process.exitCode = status === 0 && checked === 0 ? 0 : 1

/** Runs a program of this project; its output is returned if it is not inherited. */
function run([file, ...args], output) {
  const child = spawn(node, [join(root, file), ...args], {
    cwd: root,
    env,
    stdio: ['ignore', output, output],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (part) => {
      text += part
    })
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ status: code ?? 1, output: text }))
  })
}

/** Memory if there is room, because mail servers and databases sync every write to their disk. */
function temporaryFolder() {
  const memory = '/dev/shm'
  try {
    const { bavail, bsize } = statfsSync(memory)
    return bavail * bsize > 6 * 2 ** 30 ? memory : tmpdir()
  } catch {
    return tmpdir()
  }
}

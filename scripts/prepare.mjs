// Installs packages and builds dist/ when they are missing or out of date, so that the other scripts
// work on a fresh clone.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

// The oldest Node that can install the packages, and the oldest that can run the server.
const OLDEST_TO_INSTALL = [18, 0]
const OLDEST_TO_RUN = [20, 19]
const BUNDLED_MAJOR = 24

const isOlderThan = ([oldestMajor, oldestMinor]) => {
  const [major, minor] = process.versions.node.split('.').map(Number)
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor)
}

export async function prepare() {
  if (isOlderThan(OLDEST_TO_INSTALL)) {
    fail(
      `Node 18 or newer is needed, this is ${process.versions.node}; on Debian: apt install nodejs npm`,
    )
  }
  await installAndBuild()
  if (isOlderThan(OLDEST_TO_RUN) && bundledNode() === undefined) {
    fail(
      `Node ${OLDEST_TO_RUN.join('.')} or newer is needed, this is ${process.versions.node}, and the Node of the packages does not run on this machine; install a newer one, for example with: npx --yes node@24 scripts/mailplane.mjs serve`,
    )
  }
}

async function installAndBuild() {
  if (isInstalled() && isBuilt()) return
  const release = await takeTurn()
  try {
    if (!isInstalled()) install()
    if (!isBuilt()) build()
  } finally {
    release()
  }
}

/** The path of the bundled Node if it is newer than the running one. */
export function bundledNode() {
  if (Number(process.versions.node.split('.')[0]) >= BUNDLED_MAJOR) return undefined
  const file = join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node')
  if (!existsSync(file)) return undefined
  // The bundled Node does not run on a machine with an older C library.
  return spawnSync(file, ['--version'], { stdio: 'ignore' }).status === 0 ? file : undefined
}

const stamp = join(root, 'node_modules', '.mailplane-installed')
const installedFor = () =>
  hash([readFileSync(join(root, 'package-lock.json')), process.platform, process.arch])
const isInstalled = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === installedFor()

function install() {
  say('installing packages (first start, or after an update) …')
  // Set when npm started this script.
  const npm = process.env.npm_execpath
  // Not `npm ci`: see docs/adr/0008-npm-install-not-ci.md. The build needs the dev packages.
  const args = [
    'install',
    '--no-save',
    '--include=dev',
    '--include=optional',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]
  const { status } = npm?.endsWith('.js')
    ? spawnSync(process.execPath, [npm, ...args], options())
    : spawnSync('npm', args, options())
  if (status !== 0) fail('npm could not install the packages; see above')
  writeFileSync(stamp, installedFor())
}

const built = join(root, 'dist', '.built')
const isBuilt = () => existsSync(built) && readFileSync(built, 'utf8') === sources()

function build() {
  say('building …')
  const stampOfSources = sources()
  const program = bundledNode() ?? process.execPath
  const { status } = spawnSync(program, [join(root, 'scripts', 'build.mjs')], options())
  if (status !== 0) fail('the build failed; see above')
  writeFileSync(built, stampOfSources)
}

/** A hash over the names, sizes and times of all files that the build reads. */
function sources() {
  // The lock file, because the build contains the packages.
  const parts = ['tsconfig.json', 'package-lock.json', 'scripts/build.mjs'].map((file) =>
    readFileSync(join(root, file)),
  )
  const walk = (folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) walk(path)
      else if (!entry.name.endsWith('.test.ts')) {
        const { size, mtimeMs } = statSync(path)
        parts.push(`${path} ${size} ${mtimeMs}`)
      }
    }
  }
  walk(join(root, 'src'))
  walk(join(root, 'web'))
  return hash(parts)
}

/** Takes a lock, so that of two concurrent starts on a fresh clone one waits for the other. */
async function takeTurn() {
  const server = createServer()
  const name = `\0mailplane-prepare:${realpathSync(root)}`
  for (;;) {
    const isMine = await new Promise((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(process.platform === 'linux' ? name : 0, () => resolve(true))
    })
    server.removeAllListeners('error')
    if (isMine) return () => server.close()
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

// Progress goes to standard error, because standard output belongs to the command.
const options = () => ({ cwd: root, stdio: ['ignore', 2, 2] })
const say = (text) => process.stderr.write(`mailplane: ${text}\n`)
const hash = (parts) => {
  const sum = createHash('sha256')
  for (const part of parts) sum.update(part)
  return sum.digest('hex')
}

function fail(text) {
  process.stderr.write(`mailplane: ${text}\n`)
  process.exit(1)
}

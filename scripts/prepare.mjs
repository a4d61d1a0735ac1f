// Installs packages and builds dist/ when they are missing or out of date. Used by every script that
// must work on a fresh clone.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

const OLDEST = [20, 19]
const BUNDLED_MAJOR = 24

export async function prepare() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    fail(`Node ${OLDEST.join('.')} or newer is needed, this is ${process.versions.node}`)
  }
  if (isInstalled() && isBuilt()) return
  const release = await takeTurn()
  try {
    if (!isInstalled()) install()
    if (!isBuilt()) build()
  } finally {
    release()
  }
}

/** The Node that the packages bring along, when it is newer than the one running this. */
export function bundledNode() {
  if (Number(process.versions.node.split('.')[0]) >= BUNDLED_MAJOR) return undefined
  const file = join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node')
  if (!existsSync(file)) return undefined
  // A machine whose C library is too old for it keeps its own Node.
  return spawnSync(file, ['--version'], { stdio: 'ignore' }).status === 0 ? file : undefined
}

const stamp = join(root, 'node_modules', '.mailplane-installed')
const installedFor = () =>
  hash([readFileSync(join(root, 'package-lock.json')), process.platform, process.arch])
const isInstalled = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === installedFor()

function install() {
  say('installing packages (first start, or after an update) …')
  // npm's own path where npm started us; dev packages are needed to build, whatever NODE_ENV says.
  const npm = process.env.npm_execpath
  // Not `npm ci`: it insists on lock entries for platforms whose packages a registry may not carry.
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
  const wanted = sources()
  // What was deleted from the sources must not live on here.
  rmSync(join(root, 'dist'), { recursive: true, force: true })
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  // Whoever starts a server waits for this. Types were checked when the change landed; leaving that
  // out makes the same files in a tenth of the time.
  const args = [tsc, '--project', root, '--noCheck']
  const { status } = spawnSync(process.execPath, args, options())
  if (status !== 0) fail('the build failed; see above')
  mkdirSync(join(root, 'dist'), { recursive: true })
  writeFileSync(built, wanted)
}

/** Changes with every file the build reads. */
function sources() {
  const parts = [readFileSync(join(root, 'tsconfig.json'))]
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
  return hash(parts)
}

/** Two starts at once on a fresh clone: the second waits for the first. */
async function takeTurn() {
  const server = createServer()
  const name = `\0mailplane-prepare:${realpathSync(root)}`
  for (;;) {
    const taken = await new Promise((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(process.platform === 'linux' ? name : 0, () => resolve(true))
    })
    server.removeAllListeners('error')
    if (taken) return () => server.close()
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

// Progress goes to standard error: standard output belongs to the command.
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

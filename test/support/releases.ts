import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './documentation.ts'

export interface Release {
  version: string
  commit: string
}

const LOCK = 'package-lock.json'
const BUILT = join(ROOT, 'node_modules', '.cache')

/** The releases of migrations/releases.txt, the oldest first. */
export const releases: Release[] = readFileSync(join(ROOT, 'migrations', 'releases.txt'), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => {
    const [version = '', commit = ''] = line.split('  ')
    return { version, commit }
  })

/** True for a clone without the whole history, such as `git clone --depth 1` makes. */
export const isShallow =
  spawnSync('git', ['rev-parse', '--is-shallow-repository'], { cwd: ROOT })
    .stdout.toString()
    .trim() === 'true'

/** The program of a release, built from its commit once for all tests. */
export function builtRelease({ version, commit }: Release): string {
  const git = (...args: string[]) => spawnSync('git', args, { cwd: ROOT, maxBuffer: 500_000_000 })
  if (git('cat-file', '-e', `${commit}^{commit}`).status !== 0) {
    throw new Error(`release ${version} is commit ${commit}: this clone needs the whole history`)
  }
  const lock = git('show', `${commit}:${LOCK}`).stdout
  const hasSamePackages = lock.equals(readFileSync(join(ROOT, LOCK)))
  const folder = join(BUILT, `release-${commit}-${hasSamePackages ? 'same' : 'own'}`)
  const main = join(folder, 'dist', 'main.js')
  if (existsSync(main)) return main

  const making = mkdtempSync(join(BUILT, 'release-'))
  const archive = git('archive', commit).stdout
  execFileSync('tar', ['--extract', `--directory=${making}`], { input: archive })
  if (hasSamePackages) {
    symlinkSync(join(ROOT, 'node_modules'), join(making, 'node_modules'))
    execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: making })
  } else {
    execFileSync(
      process.execPath,
      ['--input-type=module', '--eval', "(await import('./scripts/prepare.mjs')).prepare()"],
      { cwd: making, env: { ...process.env, npm_config_prefer_offline: 'true' } },
    )
  }
  try {
    renameSync(making, folder)
  } catch {
    // Another test has built it meanwhile.
    rmSync(making, { recursive: true })
  }
  return main
}

// Makes a release: `npm run release -- X.Y.Z` checks that the tree, the version and the CHANGELOG are
// ready and writes the packages to release/. `--tag` makes the tag instead, and records the commit in
// migrations/releases.txt, which is committed next.
import { spawnSync } from 'node:child_process'
import { appendFileSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './prepare.mjs'
import { RELEASES_FILE, releasesIn } from './releases.mjs'

const [version = '', ...options] = process.argv.slice(2)
const isTagged = options.includes('--tag')
const git = (...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8' })
const read = (name) => readFileSync(join(root, name), 'utf8')

const problems = [
  [/^\d+\.\d+\.\d+$/.test(version), 'usage: npm run release -- X.Y.Z [--tag]'],
  [options.every((one) => one === '--tag'), `unknown option in ${options.join(' ')}`],
  [git('status', '--porcelain').stdout === '', 'the tree has changes that are not committed'],
  [JSON.parse(read('package.json')).version === version, `package.json has another version`],
  [
    JSON.parse(read('package-lock.json')).version === version,
    `package-lock.json has another version`,
  ],
  [sectionOf(version) !== '', `CHANGELOG.md has no section [${version}] with a date and entries`],
  [entriesOf('[Unreleased]') === '', 'CHANGELOG.md has entries under [Unreleased]'],
  [git('tag', '--list', `v${version}`).stdout === '', `the tag v${version} exists already`],
  [
    releasesIn(join(root, 'migrations')).every((one) => one.version !== version),
    `${RELEASES_FILE} has ${version} already`,
  ],
].flatMap(([isGood, problem]) => (isGood ? [] : [problem]))

if (problems.length > 0) {
  for (const problem of problems) process.stderr.write(`release: ${problem}\n`)
  process.exit(1)
}
if (isTagged) tag()
else await pack()

/** The files of a commit are the same at any time, because they have the time of the commit. */
async function pack() {
  const { writePackages } = await import('./package.mjs')
  const out = join(root, 'release')
  rmSync(out, { recursive: true, force: true })
  const at = new Date(Number(git('log', '-1', '--format=%ct').stdout) * 1000)
  for (const file of await writePackages(out, { at })) process.stdout.write(`${join(out, file)}\n`)
}

function tag() {
  const name = `v${version}`
  const { status, stderr } = git('tag', '--annotate', name, '--message', `Mailplane ${version}`)
  if (status !== 0) {
    process.stderr.write(`release: ${stderr}`)
    process.exitCode = 1
    return
  }
  appendFileSync(join(root, RELEASES_FILE), `${version}  ${git('rev-parse', 'HEAD').stdout}`)
  process.stdout.write(`tagged ${name}; now commit ${RELEASES_FILE}\n`)
}

/** The entries of a version that has a date. */
function sectionOf(wanted) {
  const [heading = ''] = read('CHANGELOG.md')
    .split('\n')
    .filter((line) => line.startsWith(`## [${wanted}]`))
  return / - \d{4}-\d\d-\d\d$/.test(heading) ? entriesOf(heading.slice(3)) : ''
}

/** The lines between a heading of CHANGELOG.md and the next version. */
function entriesOf(heading) {
  const [, after = ''] = read('CHANGELOG.md').split(`\n## ${heading}\n`)
  return (after.split('\n## [')[0] ?? '').trim()
}

// Makes a release: `npm run release -- X.Y.Z` checks that the tree, the version and the CHANGELOG are
// ready and writes the packages to release/. `--tag` also makes the tag.
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writePackages } from './package.mjs'
import { root } from './prepare.mjs'

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
  [git('tag', '--list', `v${version}`).stdout === '', `the tag v${version} exists already`],
].flatMap(([isGood, problem]) => (isGood ? [] : [problem]))

if (problems.length > 0) {
  for (const problem of problems) process.stderr.write(`release: ${problem}\n`)
  process.exit(1)
}
const out = join(root, 'release')
rmSync(out, { recursive: true, force: true })
// The time of the commit, so that the same commit gives the same files.
const at = new Date(Number(git('log', '-1', '--format=%ct').stdout) * 1000)
for (const file of await writePackages(out, { at })) process.stdout.write(`${join(out, file)}\n`)
if (isTagged) {
  const { status, stderr } = git(
    'tag',
    '--annotate',
    `v${version}`,
    '--message',
    `Mailplane ${version}`,
  )
  if (status !== 0) {
    process.stderr.write(`release: ${stderr}`)
    process.exit(1)
  }
  process.stdout.write(`tagged v${version}\n`)
}

/** The entries of a version in CHANGELOG.md. */
function sectionOf(wanted) {
  const [, after = ''] = read('CHANGELOG.md').split(`\n## [${wanted}] - `)
  const [first = '', ...lines] = (after.split('\n## [')[0] ?? '').split('\n')
  return /^\d{4}-\d\d-\d\d$/.test(first) ? lines.join('\n').trim() : ''
}

// Freezes the migrations: migrations/checksums.txt has the checksum of every file that has landed. Adds
// the new files; `--check` only compares. A line that is there is never replaced, because a database that
// has applied the file would refuse to start. The list is compared with that of every release, so that
// an edited list frees nothing.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './prepare.mjs'
import { checksumsIn, checksumsOf, releasesIn } from './releases.mjs'

const isCheck = process.argv.includes('--check')
const folder = process.argv.slice(2).find((word) => word !== '--check') ?? join(root, 'migrations')
const listFile = join(folder, 'checksums.txt')

const frozen = checksumsIn(existsSync(listFile) ? readFileSync(listFile, 'utf8') : '')
const present = new Map(
  readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex'),
    ]),
)
const problems = [...frozen].flatMap(([name, checksum]) => {
  if (!present.has(name)) return [`${name} has landed and is missing`]
  if (present.get(name) === checksum) return []
  return [`${name} has landed and was changed; restore it and write a new migration`]
})
for (const release of releasesIn(folder)) {
  for (const [name, checksum] of checksumsOf(release) ?? []) {
    if (frozen.get(name) === checksum) continue
    problems.push(
      `${name} is not as release ${release.version} has it; restore it and checksums.txt`,
    )
  }
}
const added = [...present.keys()].filter((name) => !frozen.has(name))
if (isCheck) problems.push(...added.map((name) => `${name} is new; run npm run migrations`))
for (const problem of problems) process.stderr.write(`migrations/${problem}\n`)
if (problems.length > 0) process.exitCode = 1
else if (!isCheck) {
  writeFileSync(listFile, [...present].map(([name, sum]) => `${sum}  ${name}\n`).join(''))
}

import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ROOT } from './support/documentation.ts'
import { releases } from './support/releases.ts'

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')

describe('the recorded releases', () => {
  it('are all versions of CHANGELOG.md; that of package.json may be in the making', () => {
    const listed = [...changelog.matchAll(/^## \[(\d\S*)\] - /gm)].map(([, one = '']) => one)
    const recorded = releases.map((release) => release.version)
    expect(recorded).toContain('1.0.0')
    expect(listed.filter((one) => one !== version || recorded.includes(one)).reverse()).toEqual(
      recorded,
    )
  })

  it('are the commits of the tags that this clone has', () => {
    const tagged = execFileSync('git', ['tag', '--list', 'v*'], { cwd: ROOT, encoding: 'utf8' })
      .split('\n')
      .filter((tag) => /^v\d+\.\d+\.\d+$/.test(tag))
      .map((tag) => ({
        version: tag.slice(1),
        commit: execFileSync('git', ['rev-parse', `${tag}^{commit}`], {
          cwd: ROOT,
          encoding: 'utf8',
        }).trim(),
      }))
    expect(releases).toEqual(expect.arrayContaining(tagged))
  })
})

describe('npm run release', () => {
  let folder: string
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@acme.test', ...args], {
      cwd: folder,
      encoding: 'utf8',
    })
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  const commit = () => {
    git('add', '--all')
    git('commit', '--quiet', '--message', 'A change')
  }
  const release = (...args: string[]) => {
    const script = join(folder, 'scripts', 'release.mjs')
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
      encoding: 'utf8',
      env: {
        PATH: process.env.PATH,
        GIT_COMMITTER_NAME: 'Test',
        GIT_COMMITTER_EMAIL: 'test@acme.test',
      },
    })
    return { status, stdout, stderr }
  }
  const refusal = (problem: string) => ({
    status: 1,
    stdout: '',
    stderr: `release: ${problem}\n`,
  })
  const READY = '# Changelog\n\n## [Unreleased]\n\n## [9.1.0] - 2027-01-02\n\n- A change.\n'

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'mailplane-release-'))
    cpSync(join(ROOT, 'scripts'), join(folder, 'scripts'), { recursive: true })
    write('package.json', JSON.stringify({ version: '9.1.0', type: 'module' }))
    write('package-lock.json', JSON.stringify({ version: '9.1.0' }))
    write('migrations/releases.txt', `9.0.0  ${'a'.repeat(40)}\n`)
    write('CHANGELOG.md', READY)
    git('init', '--quiet')
    commit()
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  it('refuses entries that are still under [Unreleased]', () => {
    write('CHANGELOG.md', READY.replace('[Unreleased]\n', '[Unreleased]\n\n### Fixed\n\n- One.\n'))
    commit()
    expect(release('9.1.0', '--tag')).toEqual(
      refusal('CHANGELOG.md has entries under [Unreleased]'),
    )
    expect(git('tag')).toBe('')
  })

  it('refuses a version without a dated section', () => {
    write('CHANGELOG.md', READY.replace(' - 2027-01-02', ''))
    commit()
    expect(release('9.1.0', '--tag')).toEqual(
      refusal('CHANGELOG.md has no section [9.1.0] with a date and entries'),
    )
  })

  it('refuses a section without entries', () => {
    write('CHANGELOG.md', READY.replace('- A change.\n', ''))
    commit()
    expect(release('9.1.0')).toEqual(
      refusal('CHANGELOG.md has no section [9.1.0] with a date and entries'),
    )
  })

  it('refuses changes that are not committed', () => {
    write('notes.txt', 'one')
    expect(release('9.1.0', '--tag')).toEqual(
      refusal('the tree has changes that are not committed'),
    )
  })

  it('refuses another version than that of the packages', () => {
    const { status, stderr } = release('9.2.0')
    expect(status).toBe(1)
    expect(stderr).toContain('release: package.json has another version\n')
    expect(stderr).toContain('release: package-lock.json has another version\n')
  })

  it('refuses wrong usage', () => {
    expect(release().stderr).toContain('usage: npm run release -- X.Y.Z [--tag]')
    expect(release('9.1.0', '--publish')).toEqual(refusal('unknown option in --publish'))
  })

  it('makes a tag, records its commit, and refuses to do so again', () => {
    const head = git('rev-parse', 'HEAD').trim()
    expect(release('9.1.0', '--tag')).toMatchObject({ status: 0, stderr: '' })
    expect(git('rev-parse', 'v9.1.0^{commit}').trim()).toBe(head)
    expect(readFileSync(join(folder, 'migrations', 'releases.txt'), 'utf8')).toBe(
      `9.0.0  ${'a'.repeat(40)}\n9.1.0  ${head}\n`,
    )
    commit()
    expect(release('9.1.0', '--tag').stderr).toBe(
      'release: the tag v9.1.0 exists already\nrelease: migrations/releases.txt has 9.1.0 already\n',
    )
  })
})

it('the bill of materials of a release names the version and every package with its checksum', () => {
  const script = `
    import { billOfMaterials } from '${join(ROOT, 'scripts', 'packages', 'sbom.mjs')}'
    process.stdout.write(JSON.stringify(billOfMaterials('9.1.0', new Date(0))))`
  const bill = JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' }),
  )
  expect(bill.metadata).toMatchObject({
    timestamp: '1970-01-01T00:00:00.000Z',
    component: { name: 'mailplane', version: '9.1.0' },
  })
  const names = new Set(bill.components.map(({ name }: { name: string }) => name))
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  expect(Object.keys(dependencies).filter((name) => !names.has(name))).toEqual([])
  expect(bill.components.filter(({ hashes }: { hashes?: object[] }) => !hashes?.length)).toEqual([])
})

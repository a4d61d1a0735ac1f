import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, type TestContext } from 'vitest'
import {
  blocksOf,
  commandsOf,
  type Page,
  pages,
  ROOT,
  sectionOf,
} from '../support/documentation.ts'
import { cleanUp, run, temporaryFolder, until } from '../support/process.ts'

afterAll(cleanUp)

const readme = pages.find(({ path }) => path === 'README.md') as Page

const isRoot = process.getuid?.() === 0
const NOBODY = 65534
const LONG_MS = 600_000
const MODULES = join(ROOT, 'node_modules')
const FREE_PORTS = {
  PORT: '0',
  POLICY_RATE_PORT: '0',
  POLICY_ACCESS_PORT: '0',
  AUTH_POLICY_PORT: '0',
  CONTENT_FILTER_PORT: '0',
}

// Issue 19: every command works when it is pasted, by an ordinary user and by root.
describe('README.md, on a fresh copy of the project with a clean environment', () => {
  let copy: Clone
  beforeAll(() => {
    copy = freshCopy()
  })

  // The first start also builds, which takes minutes on a slow machine.
  const asOrdinaryUser = ({ skip }: TestContext) => {
    skip(isRoot && !canRead(NOBODY, MODULES), `other users cannot read ${MODULES}`)
    return followReadme(isRoot ? NOBODY : undefined)
  }
  it('starts with npm start, then runs "First calls", as an ordinary user', asOrdinaryUser, LONG_MS)

  const asRoot = () => followReadme(isRoot ? 0 : undefined)
  it.runIf(isRoot)(
    'does the same as root; skipped where the tests do not run as root',
    asRoot,
    LONG_MS,
  )

  async function followReadme(uid: number | undefined) {
    const clone = handedTo(uid, copy)
    const server = await npmStart(clone)
    const blocks = blocksOf(sectionOf(readme, 'First calls'))
    const script = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text)
    const here = script.join('').replace('http://127.0.0.1:5000', server.base)
    expect(here).toContain(server.base)

    const { code, stdout, stderr } = await shell(here, clone)
    await server.stop()
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.match(/"type":"success"/g)).toHaveLength(here.match(/^curl /gm)?.length ?? 0)
    expect(stdout).toContain('"domain":"shop.example"')
    // N10: the last call has a full session of the operator.
    expect(stdout.trimEnd()).toMatch(/"email":"root@ops\.example","role":"owner"[^\n]*$/)
  }
})

/** Every `mailplane` command in a code block of any page, without comments and placeholders. */
const commands = [
  ...new Set(
    pages
      .flatMap(({ text }) => blocksOf(text))
      .flatMap(commandsOf)
      .flatMap((line) => /(?:mailplane --|main\.js|mailplane\.mjs) ([^#>]*)/.exec(line)?.[1] ?? [])
      .map((args) => args.trim()),
  ),
]

// Only the command line is checked here: the database does not answer. command-line.test.ts,
// backup.test.ts and the mail lane run the commands themselves.
describe('mailplane commands of the documentation', () => {
  it('are found in code blocks', () => {
    expect(commands).toContain('edge up')
    expect(commands.length).toBeGreaterThan(8)
  })

  it.each(commands)('accepts the arguments of "mailplane %s"', async (command) => {
    const dataDir = join(temporaryFolder(), 'data')
    mkdirSync(dataDir)
    const { code, stderr } = await run(command.split(' '), {
      DATA_DIR: dataDir,
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
    })
    expect(stderr).not.toContain('usage:')
    expect(code).not.toBe(2)
  })
})

interface Clone {
  folder: string
  uid: number | undefined
  env: Record<string, string>
}

/** A copy of the project without its build and data. */
function freshCopy(): Clone {
  const top = temporaryFolder()
  // Started by root, PostgreSQL runs as another user.
  chmodSync(top, 0o755)
  const folder = join(top, 'mailplane')
  const made = ['node_modules', 'dist', 'data', '.git'].map((name) => join(ROOT, name))
  cpSync(ROOT, folder, { recursive: true, filter: (path) => !made.includes(path) })
  // The packages that an installation would download.
  symlinkSync(MODULES, join(folder, 'node_modules'))
  const home = join(top, 'home')
  mkdirSync(home)
  const path = (process.env.PATH ?? '').split(':').filter((one) => !one.includes('node_modules'))
  return {
    folder,
    uid: undefined,
    // Free ports and a fast hash; everything else has its default.
    env: { HOME: home, PATH: path.join(':'), ...FREE_PORTS, SVC_HASHING_COST: 'lowest' },
  }
}

const canRead = (uid: number, path: string): boolean =>
  spawnSync('/usr/bin/test', ['-r', path], { uid, gid: uid }).status === 0

/** The copy without data, as files of this user. */
function handedTo(uid: number | undefined, clone: Clone): Clone {
  rmSync(join(clone.folder, 'data'), { recursive: true, force: true })
  if (uid !== undefined) {
    execFileSync('chown', ['-hR', `${uid}:${uid}`, dirname(clone.folder)])
  }
  return { ...clone, uid }
}

const asUser = ({ folder, uid, env }: Clone) => ({
  cwd: folder,
  env,
  ...(uid !== undefined && { uid, gid: uid }),
})

async function npmStart(clone: Clone) {
  const child = spawn('npm', ['start'], {
    ...asUser(clone),
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that no process is left when the test fails.
    detached: true,
  })
  const ended = once(child, 'close')
  onTestFinished(() => {
    if (child.exitCode === null) process.kill(-(child.pid as number), 'SIGKILL')
  })
  let output = ''
  const keep = (text: string) => {
    output += text
  }
  child.stdout.setEncoding('utf8').on('data', keep)
  child.stderr.setEncoding('utf8').on('data', keep)
  const base = () => /ready at (\S+)/.exec(output)?.[1]
  await until(() => base() !== undefined || child.exitCode !== null, LONG_MS)
  expect(base(), output).toBeDefined()
  return {
    base: base() ?? '',
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

async function shell(script: string, clone: Clone) {
  const child = spawn('/bin/sh', ['-e', '-u'], asUser(clone))
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk) => {
    output.stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    output.stderr += chunk
  })
  child.stdin.end(script)
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, ...output }
}

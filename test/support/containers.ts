import { spawn, spawnSync } from 'node:child_process'
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
import { until } from './process.ts'
import { missingProgram, runProgram } from './programs.ts'

/** Base images take minutes, so they stay for the next run. */
const CACHE = join(ROOT, 'node_modules', '.cache', 'cluster')
const SUITE = 'bookworm'

/** The reason to skip a test that installs a Debian, which takes minutes and Debian's mirror. */
export const debianMissing =
  missingProgram('debootstrap', 'unshare') ??
  (process.getuid?.() === 0 ? undefined : 'debootstrap needs root') ??
  (process.env.MAILPLANE_LANES?.includes('cluster') ? undefined : 'npm run test:cluster runs it')

/** The reason why no image of Debian 12 can be built and run here. */
export const containersMissing = missingProgram('buildah', 'podman', 'nsenter') ?? debianMissing

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
 */
export async function containerEngine() {
  mkdirSync(CACHE, { recursive: true })
  const settings = join(CACHE, 'containers.conf')
  writeFileSync(
    settings,
    '[containers]\ndefault_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]\n[engine]\ncgroup_manager = "cgroupfs"\n',
  )
  const unified = '/sys/fs/cgroup/unified'
  const holder = spawn(
    'unshare',
    ['--mount', 'sh', '-c', `umount ${unified} 2>/dev/null; echo ready; exec sleep infinity`],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  )
  let isReady = false
  holder.stdout.on('data', () => {
    isReady = true
  })
  await until(() => isReady || holder.exitCode !== null)
  const storage = ['--root', join(CACHE, 'storage'), '--runroot', join(CACHE, 'run')]
  const inside = (program: string) => (args: string[], input?: string) =>
    runProgram(
      'nsenter',
      [
        `--target=${holder.pid}`,
        '--mount',
        program,
        ...storage,
        '--storage-driver=overlay',
        ...args,
      ],
      { cwd: ROOT, env: { ...process.env, CONTAINERS_CONF: settings }, ...(input && { input }) },
    )
  const buildah = inside('buildah')
  const podman = inside('podman')
  const build = (file: string, tag: string, context: string, ...more: string[]) =>
    buildah([
      ...['build', '--isolation=chroot', '--pull-never', '--format=docker', `--file=${file}`],
      ...[`--tag=${tag}`, ...more, context],
    ])
  const hasImage = (name: string) =>
    buildah(['images', '--format={{.Name}}']).includes(`/${name}\n`)
  const containers: string[] = []
  return {
    podman,
    build,
    hasImage,
    /** Starts a container in the background; returns its name. */
    start(name: string, args: string[]): string {
      podman(['run', '--detach', '--replace', `--name=${name}`, ...args])
      containers.push(name)
      return name
    },
    async close() {
      for (const name of containers.reverse()) podman(['rm', '--force', '--volumes', name])
      holder.kill('SIGKILL')
    },
  }
}

/** Builds images for the build argument BASE: Debian 12 with Node, and with the mail servers. */
export function baseImages({ build, hasImage }: Engine): void {
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

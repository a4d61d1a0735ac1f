import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { ROOT } from './documentation.ts'

/** The ordinary user of the clean root. */
export const USER = 'jane'
const HOME = `/home/${USER}`
/** The folder of the user's clone of the project. */
export const PROJECT = `${HOME}/mailplane`

const NAMESPACES = ['--mount', '--pid', '--net', '--ipc', '--fork', '--kill-child']

/**
 * Covers / by an overlay whose changes are in memory, and copies the project into it as a clone has
 * it. Everything is private to the namespaces and vanishes with their last process.
 */
const SET_UP = `
set -e
top=$1 project=$2
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs "$top"
cd "$top"
mkdir root upper work modules modules-work
mount -t overlay -o "lowerdir=/,upperdir=$top/upper,workdir=$top/work" overlay root
ip link set lo up
mount -t proc proc root/proc
mount --rbind /dev root/dev
mount -t tmpfs -o mode=1777 tmpfs root/dev/shm
mount -t tmpfs -o mode=1777 tmpfs root/tmp
mount -t tmpfs -o mode=755 tmpfs root/run
mount -t tmpfs -o mode=700 tmpfs root/root
rm -rf root/var/lib/mailplane root${HOME}
chroot root useradd --create-home --shell /bin/sh ${USER}
chmod 700 root${HOME}
mkdir root${PROJECT}
(cd "$project" && tar -c --exclude=./node_modules --exclude=./dist --exclude=./data --exclude=./.git .) |
  tar -x --no-same-owner -C root${PROJECT}
chroot root chown -R ${USER}: ${PROJECT}
mkdir root${PROJECT}/node_modules
mount -t overlay -o "lowerdir=$project/node_modules,upperdir=$top/modules,workdir=$top/modules-work" overlay root${PROJECT}/node_modules
`

/** The first process. It reaps orphans, and ends when the test process closes its input or ends. */
const HOLD = `${SET_UP}
exec chroot root bash -c 'echo ready; read -r end; exit'
`

/** The reason why there can be no clean root here; undefined when there can be one. */
export function cleanRootImpossible(): string | undefined {
  if (process.getuid?.() !== 0) return 'namespaces need root'
  const top = mkdtempSync(join(tmpdir(), 'mailplane-root-'))
  try {
    const probe = ['bash', '-c', SET_UP.split('\nmount -t proc')[0] ?? '', 'bash', top, ROOT]
    const { status, stderr, error } = spawnSync('unshare', [...NAMESPACES, ...probe])
    if (status === 0) return undefined
    return `no namespace with an overlay of /: ${error?.message ?? String(stderr).trim()}`
  } finally {
    rmdirSync(top)
  }
}

interface Output {
  code: number | null
  stdout: string
  stderr: string
}

export type CleanRoot = Awaited<ReturnType<typeof cleanRoot>>

/** Starts a clean root: processes, loopback, files and users of its own, without a way out. */
export async function cleanRoot() {
  const top = mkdtempSync(join(tmpdir(), 'mailplane-root-'))
  const first = spawn('unshare', [...NAMESPACES, 'bash', '-c', HOLD, 'bash', top, ROOT], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const ended = once(first, 'close')
  const problems = collect(first.stderr)
  await Promise.race([once(first.stdout, 'data'), ended])
  if (first.exitCode !== null) throw new Error(`no clean root: ${problems()}`)
  const [uid, gid] = lookUp(first.pid as number)

  /** Starts a shell command in the project folder, as root or as the user, with nothing set. */
  function start(as: 'root' | typeof USER, command: string) {
    const isRoot = as === 'root'
    const identity = isRoot ? [] : ['--setuid', uid, '--setgid', gid]
    const child = spawn(
      'nsenter',
      [
        ...['--target', String(childOf(first.pid as number)), '--all', '--root', '--wd'],
        ...[...identity, '/bin/sh', '-c', `cd ${PROJECT} && ${command}`],
      ],
      {
        env: { HOME: isRoot ? '/root' : HOME, PATH: pathWithoutModules(), LANG: 'C.UTF-8' },
        stdio: ['pipe', 'pipe', 'pipe'],
      },
    )
    const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)]
    const ending = once(child, 'close').then(
      ([code]): Output => ({ code, stdout: stdout(), stderr: stderr() }),
    )
    return { stdin: child.stdin, stdout, stderr, ended: ending, isRunning: () => isRunning(child) }
  }

  return {
    start,
    /** Runs a shell command to its end; `input` is what it reads. */
    run(as: 'root' | typeof USER, command: string, input = ''): Promise<Output> {
      const { stdin, ended: end } = start(as, command)
      stdin.on('error', () => {}).end(input)
      return end
    },
    /** Ends every process of the clean root; its files vanish with them. */
    async stop() {
      first.stdin.end()
      await ended
      rmdirSync(top)
    },
  }
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>

const isRunning = (child: Child) => child.exitCode === null && child.signalCode === null

function collect(stream: Readable): () => string {
  let text = ''
  stream.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  return () => text
}

/** The first process of the namespace, as a process of this machine. */
function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim())
}

/** The ids of the user, which the system has chosen. */
function lookUp(pid: number): [uid: string, gid: string] {
  const child = String(childOf(pid))
  const id = (flag: string) =>
    spawnSync('nsenter', ['--target', child, '--all', '--root', 'id', flag, USER], {
      encoding: 'utf8',
    }).stdout.trim()
  return [id('-u'), id('-g')]
}

/** npm puts the programs of the packages first, which a user's shell does not have. */
const pathWithoutModules = () =>
  (process.env.PATH ?? '')
    .split(':')
    .filter((folder) => !folder.includes('node_modules'))
    .join(':')

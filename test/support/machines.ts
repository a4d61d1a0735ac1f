import {
  type ChildProcess,
  execFile as execFileCallback,
  spawn,
  spawnSync,
} from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { until } from './process.ts'
import { startWire } from './wire.ts'

const execFile = promisify(execFileCallback)

const NAMESPACES = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
/** A machine has its own version of these folders: changes stay in its folder. */
const OWN_FOLDERS = ['/etc', '/var', '/usr/local/share']
/** RFC 2544: a range for tests of network devices. */
const NETWORK = `198.18.${process.pid % 250}`

/** The reason why machines cannot be simulated here; undefined when they can. */
export const machinesMissing =
  process.getuid?.() !== 0
    ? 'network namespaces need root'
    : spawnSync('unshare', ['--net', ...NAMESPACES, 'ip', 'link', 'add', 'wire', 'type', 'bridge'])
          .status !== 0
      ? 'unshare or network bridges are not permitted'
      : spawnSync('python3', ['--version']).status !== 0
        ? 'python3 is not installed'
        : undefined

export type Machines = Awaited<ReturnType<typeof startMachines>>

/**
 * Machines with addresses, processes and folders of their own, on one wire whose traffic is recorded. The first
 * one shares the network of this process, so that a test can be a client of it.
 */
export async function startMachines(names: readonly string[], domain: string) {
  const folder = mkdtempSync(join(tmpdir(), 'mailplane-machines-'))
  const holders: ChildProcess[] = []
  const pids = new Map<string, number>()
  const addressOf = (name: string) => `${NETWORK}.${names.indexOf(name) + 1}`
  const hostnameOf = (name: string) => `${name}.${domain}`
  const folderOf = (name: string) => join(folder, name)

  /** Starts a process that keeps the namespaces; its end ends all processes of the machine. */
  const hold = async (name: string, options: string[], setup: string) => {
    mkdirSync(folderOf(name))
    const script = `set -e; ${setup}\necho ready; exec sleep infinity`
    const holder = spawn(
      'setpriv',
      ['--pdeathsig', 'KILL', 'unshare', ...options, ...NAMESPACES, 'sh', '-c', script],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    holders.push(holder)
    let output = ''
    holder.stdout.setEncoding('utf8').on('data', (text) => {
      output += text
    })
    await until(() => output.includes('ready') || holder.exitCode !== null)
    const children = readFileSync(`/proc/${holder.pid}/task/${holder.pid}/children`, 'utf8')
    pids.set(name, Number(children.trim()))
  }
  const through = (name: string) => [
    'nsenter',
    ...['--target', String(pids.get(name)), '--net', '--mount', '--pid', '--'],
  ]
  /** Runs a shell script on a machine; returns its output. */
  const run = async (name: string, script: string, env: Record<string, string> = {}) => {
    const text = `cd ${folderOf(name)}\n${script}`
    const [program = '', ...args] = [...through(name), 'sh', '-ec', text]
    return (await execFile(program, args, { env: { PATH: process.env.PATH, ...env } })).stdout
  }
  const stop = async () => {
    await wire?.stop()
    for (const holder of holders) holder.kill('SIGKILL')
    await until(() => holders.every(({ exitCode, signalCode }) => exitCode ?? signalCode))
    rmSync(folder, { recursive: true, force: true })
  }

  let wire: Awaited<ReturnType<typeof startWire>> | undefined
  const startAll = async () => {
    const hosts = join(folder, 'hosts')
    const lines = names.map((name) => `${addressOf(name)} ${hostnameOf(name)}\n`)
    writeFileSync(hosts, `127.0.0.1 localhost\n${lines.join('')}`)
    await hold('wire', ['--net'], 'ip link add wire type bridge; ip link set wire up')
    for (const [index, name] of names.entries()) {
      await hold(
        name,
        index === 0 ? [] : ['--net'],
        `${ownFolders(folderOf(name))}
cp ${hosts} /etc/hosts`,
      )
      await connect(name, `mp${process.pid}`)
    }
    wire = await startWire(through('wire'))
  }
  const connect = async (name: string, own: string) => {
    const device = name === names[0] ? own : 'eth0'
    // The number of a process is that outside of the machine.
    const ip = (machine: string, text: string) =>
      execFile('nsenter', ['-t', String(pids.get(machine)), '-n', 'ip', ...text.split(' ')])
    await ip(name, `link add ${device} type veth peer name ${name} netns ${pids.get('wire')}`)
    await ip(name, `address add ${addressOf(name)}/24 dev ${device}`)
    for (const one of ['lo', device]) await ip(name, `link set ${one} up`)
    await ip('wire', `link set ${name} master wire`)
    await ip('wire', `link set ${name} up`)
  }
  await startAll().catch(async (error) => {
    await stop()
    throw error
  })

  return {
    network: `${NETWORK}.0/24`,
    addressOf,
    hostnameOf,
    /** A folder with which the test and the machine exchange files. */
    folderOf,
    /** The beginning of a command that runs on a machine. */
    through,
    run,
    /** The data that the machines sent to each other. */
    recorded: () => (wire as NonNullable<typeof wire>).recorded(),
    stop,
  }
}

const ownFolders = (folder: string): string =>
  OWN_FOLDERS.map((path) => {
    const [changes, work] = ['changes', 'work'].map((kind) => join(folder, kind, path))
    const layers = `lowerdir=${path},upperdir=${changes},workdir=${work}`
    return `mkdir -p ${changes} ${work}; mount -t overlay overlay -o ${layers} ${path}`
  })
    .concat('mount -t tmpfs tmpfs /run')
    .join('\n')

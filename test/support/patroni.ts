import { execFile as execFileCallback } from 'node:child_process'
import { chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startCuttingProxy } from './cutting-proxy.ts'
import { blocksOf, pages } from './documentation.ts'
import { kill, until, workersIn } from './process.ts'
import { missingProgram } from './programs.ts'
import { openPrograms, user } from './running-programs.ts'

const execFile = promisify(execFileCallback)

const MACHINES = ['db1', 'db2', 'db3']
const POSTGRES = 5432
const REST = 8008
/** The role and the database that the documented command creates. */
const urlAt = (hosts: string) => `postgres://mailplane:change-me-3@${hosts}/mailplane`

/** The block of docs/database-failover.md in this language that contains the text. */
export function documented(language: string, text: string): string {
  const page = pages.find(({ path }) => path === 'docs/database-failover.md')
  const found = blocksOf(page?.text ?? '').filter(
    (block) => block.language === language && block.text.includes(text),
  )
  if (found.length !== 1) throw new Error(`${found.length} blocks in ${language} with ${text}`)
  return found[0]?.text ?? ''
}

const [, binaries = ''] = /bin_dir: (\S+)/.exec(documented('yaml', 'scope:')) ?? []

/** The reason why the documented cluster cannot run here; undefined when it can. */
export const patroniMissing =
  missingProgram('etcd', 'patroni', 'patronictl', 'psql', 'haproxy') ??
  missingProgram(join('..', binaries, 'postgres'))

/** Seconds after which a primary that is silent loses its place. */
export const TTL = Number(/ttl: (\d+)/.exec(documented('yaml', 'scope:'))?.[1])

/** A member as Patroni's REST API shows it. */
interface Member {
  role: string
  timeline?: number
}

export type Cluster = Awaited<ReturnType<typeof startCluster>>

/**
 * Three machines with etcd, Patroni and PostgreSQL as docs/database-failover.md has them. A machine is an
 * address of loopback. Proxies on it, which can fall silent, lead to the servers on a second address.
 */
export async function startCluster() {
  const programs = openPrograms()
  const network = `127.${100 + (process.pid % 100)}.${1 + (Math.floor(process.pid / 100) % 250)}`
  const addressOf = (name: string) => `${network}.${name.slice(2)}`
  const innerOf = (name: string) => `${network}.1${name.slice(2)}`
  const folderOf = (name: string) => join(programs.folder, name)
  /** A documented text with the folders and addresses of this test. */
  const adapted = (text: string, name: string) =>
    text
      .replace(/\/(var|etc)\/[\w/.]+/g, (path) => join(folderOf(name), path.replaceAll('/', '_')))
      .replace(/\bdb\d(?=:\d)/g, addressOf)
      .replace(/(?<=host=)\S+/, MACHINES.map(addressOf).join())
  /** The file of db1 for another machine; the lines that name all machines are the same there. */
  const fileOf = (text: string, name: string, listening: string) => {
    const lines = text.split('\n')
    const own = lines.map((line) => (line.includes('db2') ? line : line.replaceAll('db1', name)))
    return adapted(own.join('\n'), name).replaceAll('0.0.0.0:', `${listening}:`)
  }
  const configurationOf = (name: string) => join(folderOf(name), '_etc_patroni_config.yml')
  const startPatroni = (name: string) => programs.start('patroni', [configurationOf(name)])

  /** Runs one of the documented commands, as the user that runs the servers. */
  const command = async (text: string) =>
    (await execFile('/bin/sh', ['-ec', adapted(text, 'db1')], programs.options)).stdout

  for (const name of MACHINES) {
    for (const folder of [folderOf(name), join(folderOf(name), '_var_run_postgresql')]) {
      mkdirSync(folder, { mode: 0o700 })
      if (user.uid !== undefined) chownSync(folder, user.uid, user.gid)
    }
    const settings = fileOf(documented('env', 'ETCD_NAME'), name, addressOf(name))
    const env = settings.split('\n').filter(Boolean)
    programs.start('etcd', [], Object.fromEntries(env.map((line) => line.split(/=(.*)/s))))
    const patroni = fileOf(documented('yaml', 'scope:'), name, innerOf(name))
    writeFileSync(configurationOf(name), patroni)
  }
  const machines = new Map<string, ReturnType<typeof startPatroni>>()
  const proxies = new Map<string, Awaited<ReturnType<typeof startCuttingProxy>>[]>()
  for (const name of MACHINES) {
    const started = [POSTGRES, REST].map((port) =>
      startCuttingProxy(`tcp://${innerOf(name)}:${port}`, { host: addressOf(name), port }),
    )
    proxies.set(name, await Promise.all(started))
    machines.set(name, startPatroni(name))
  }
  const patroniOf = (name: string) => {
    const patroni = machines.get(name)
    if (!patroni) throw new Error(`no machine has the name ${name}`)
    return patroni
  }
  const postgresOf = (name: string) => workersIn(folderOf(name))
  const proxiesOf = (name: string) => proxies.get(name) ?? []

  /** The answer of the Patroni of a machine; undefined if there is none. */
  const ask = async (name: string, path: string) => {
    const signal = AbortSignal.timeout(2000)
    const answer = await fetch(`http://${innerOf(name)}:${REST}${path}`, { signal }).catch(() => {})
    return answer?.ok ? ((await answer.json()) as { members?: Member[] }) : undefined
  }
  /** The machine that accepts writes at the moment. */
  const primary = async (): Promise<string | undefined> => {
    const answers = await Promise.all(MACHINES.map((name) => ask(name, '/primary')))
    return MACHINES.find((_, index) => answers[index])
  }
  /** Waits until all machines are in their places and a synchronous replica has every change. */
  const complete = () =>
    until(async () => {
      const name = (await primary()) ?? ''
      const replicas = MACHINES.filter((one) => one !== name)
      const answers = await Promise.all(replicas.map((one) => ask(one, '/replica')))
      const { members = [] } = (await ask(name, '/cluster')) ?? {}
      const [first] = members
      return (
        answers.every(Boolean) &&
        members.length === MACHINES.length &&
        // A server that has to be rewound or restarted is on an old timeline, or on none.
        members.every(({ timeline }) => timeline && timeline === first?.timeline) &&
        members.some(({ role }) => role === 'sync_standby')
      )
    })

  return {
    machines: MACHINES,
    addressOf,
    adapted,
    command,
    primary,
    complete,
    programs,
    /** The documented database, with the list of all machines. */
    url: urlAt(MACHINES.map((name) => `${addressOf(name)}:${POSTGRES}`).join()),
    /** Starts the documented proxy; returns the URL of the database through it. */
    async startHaproxy(): Promise<string> {
      const address = `${network}.20:${POSTGRES}`
      const file = join(programs.folder, 'haproxy.cfg')
      const text = documented('haproxy', 'listen postgres').replace('127.0.0.1:5432', address)
      writeFileSync(file, adapted(text, 'db1'))
      const haproxy = programs.start('/usr/sbin/haproxy', ['-db', '-f', file])
      // It takes every server for a primary until it has asked them.
      await until(() => {
        if (!haproxy.isRunning()) throw new Error(`haproxy does not start: ${haproxy.output()}`)
        return haproxy.output().match(/Server \S+ is DOWN/g)?.length === MACHINES.length - 1
      })
      return urlAt(address)
    },
    primaryUrl: async () => urlAt(addressOf((await primary()) ?? '')),
    /** The power of a machine fails. */
    kill(name: string) {
      kill(patroniOf(name).pid)
      for (const pid of postgresOf(name)) kill(pid)
    },
    /** A machine stands still. Its kernel still accepts connections. */
    freeze(name: string) {
      kill(patroniOf(name).pid, 'SIGSTOP')
      for (const pid of postgresOf(name)) kill(pid, 'SIGSTOP')
    },
    /** The network of a machine swallows everything, so its Patroni cannot renew its place either. */
    silence(name: string) {
      kill(patroniOf(name).pid, 'SIGSTOP')
      for (const proxy of proxiesOf(name)) proxy.silence({ all: true })
    },
    /** Ends a fault of any kind; without one it changes nothing. */
    mend(name: string) {
      for (const proxy of proxiesOf(name)) proxy.mend()
      const patroni = patroniOf(name)
      if (!patroni.isRunning()) machines.set(name, startPatroni(name))
      for (const pid of [...postgresOf(name), patroni.pid]) kill(pid, 'SIGCONT')
    },
    output: () => [...machines].map(([name, { output }]) => `${name}:\n${output()}`).join('\n'),
    async stop() {
      await Promise.all([...proxies.values()].flat().map((proxy) => proxy.stop()))
      for (const { pid } of machines.values()) kill(pid)
      for (const pid of workersIn(programs.folder)) kill(pid)
      await until(() => workersIn(programs.folder).length === 0)
      await programs.stop()
    },
  }
}

import { chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../src/lib/free-port.ts'
import { orStop } from './or-stop.ts'
import { missingProgram } from './programs.ts'
import { startProxy } from './proxy.ts'
import { openPrograms, user } from './running-programs.ts'
import { waitFor } from './wait.ts'

/** The reason why ClickHouse cannot run here; undefined when it can. */
export const clickHouseMissing = missingProgram('clickhouse-server')

const LOGIN = { name: 'mailplane', password: 'p@ss:w/rd%' }

/** A private ClickHouse on loopback with a database for each test that asks for one. */
export async function startClickHouse() {
  const programs = openPrograms()
  const { folder } = programs
  const port = await freePort()
  for (const name of ['data', 'tmp']) {
    mkdirSync(join(folder, name))
    if (user.uid !== undefined) chownSync(join(folder, name), user.uid, user.gid)
  }
  const write = (name: string, xml: string) =>
    writeFileSync(join(folder, name), `<yandex>${xml}</yandex>`, { mode: 0o644 })
  write(
    'config.xml',
    `<logger><level>warning</level><console>1</console></logger>
    <http_port>${port}</http_port><listen_host>127.0.0.1</listen_host>
    <path>${folder}/data/</path><tmp_path>${folder}/tmp/</tmp_path>
    <mark_cache_size>67108864</mark_cache_size><users_config>users.xml</users_config>
    <default_profile>default</default_profile><default_database>default</default_database>`,
  )
  write(
    'users.xml',
    `<profiles><default/></profiles><quotas><default/></quotas>
    <users><${LOGIN.name}><password>${LOGIN.password}</password>
      <networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota>
    </${LOGIN.name}></users>`,
  )
  const authorization = `Basic ${Buffer.from(`${LOGIN.name}:${LOGIN.password}`).toString('base64')}`
  const ask = async (query: string): Promise<string> => {
    const headers = { authorization }
    const url = `http://127.0.0.1:${port}/`
    const answer = await fetch(url, { method: 'POST', headers, body: query })
    const text = await answer.text()
    if (!answer.ok) throw new Error(text)
    return text.trim()
  }
  let server: ReturnType<typeof programs.start>
  const start = async () => {
    server = programs.start('clickhouse-server', [`--config-file=${folder}/config.xml`])
    await waitFor(() => {
      if (!server.isRunning()) throw new Error(`ClickHouse does not start: ${server.output()}`)
      return ask('select 1').catch(() => undefined)
    })
  }
  await orStop(start(), () => programs.stop())
  return {
    port,
    ask,
    start,
    kill: () => server.kill(),
    /** Makes ClickHouse hang until it is resumed. */
    pause: () => process.kill(server.pid, 'SIGSTOP'),
    resume: () => process.kill(server.pid, 'SIGCONT'),
    stop: () => programs.stop(),
    /** The URL of a new database, through another port when there is a proxy. */
    async database(name: string, through = port): Promise<string> {
      await ask(`create database ${name}`)
      const { name: login, password } = LOGIN
      return `http://${login}:${encodeURIComponent(password)}@127.0.0.1:${through}/${name}`
    },
  }
}

/** A proxy that loses one request, or its answer, and all that follow on any connection. */
export async function startLosingProxy(port: number) {
  let left = Number.POSITIVE_INFINITY
  let isAnswerLost = false
  let requests = 0
  const proxy = await startProxy({ host: '127.0.0.1', port }, () => ({
    fromClient(chunk, server) {
      if (chunk.subarray(0, 5).toString() === 'POST ') {
        requests++
        left--
      }
      if (left >= 0 || (left === -1 && isAnswerLost)) return true
      server.destroy()
      return false
    },
    fromServer(_chunk, client) {
      if (left >= 0) return true
      client.destroy()
      return false
    },
  }))
  return {
    port: proxy.port,
    stop: proxy.stop,
    get requests() {
      return requests
    },
    /** After so many requests, loses the next one, or only its answer. */
    loseAfter(count: number, what: 'request' | 'answer') {
      left = count
      isAnswerLost = what === 'answer'
    },
    mend() {
      left = Number.POSITIVE_INFINITY
    },
  }
}

import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { freePort, isFree } from '../lib/free-port.ts'

/** The listeners by name, with their ports on a real host. */
export const STANDARD_PORTS = {
  smtp: 25,
  submission: 587,
  smtps: 465,
  internal: 10587,
  automatic: 10588,
  filter: 10025,
  rate: 10031,
  access: 10032,
  auth: 10033,
  reinject: 10026,
  filtered: 10027,
  imap: 143,
  imaps: 993,
  pop3: 110,
  pop3s: 995,
  sieve: 4190,
  lmtp: 24,
  sasl: 24100,
  doveadm: 24180,
  quota: 24181,
  sync: 24182,
  milter: 11332,
  scanner: 11333,
  controller: 11334,
  clamd: 3310,
}

export type Ports = Record<keyof typeof STANDARD_PORTS, number>

/** The control plane listens on these, and the mail servers connect to them. */
const OF_THE_SERVER: (keyof Ports)[] = ['filter', 'rate', 'access', 'auth']

/** Chooses free ports once and stores them, because clients and settings refer to them. */
export async function choosePorts(file: string, isRunning: boolean): Promise<Ports> {
  const stored: Partial<Ports> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  const ports = { ...STANDARD_PORTS }
  const taken = new Set<number>()
  for (const name of Object.keys(ports) as (keyof Ports)[]) {
    let port = stored[name]
    // A running server may already listen on its ports.
    const isOurs = isRunning || OF_THE_SERVER.includes(name)
    if (port === undefined || taken.has(port) || !(isOurs || (await isFree(port)))) {
      port = await freePort(taken)
    }
    taken.add(port)
    ports[name] = port
  }
  writeFileSync(`${file}.new`, `${JSON.stringify(ports, null, 2)}\n`)
  renameSync(`${file}.new`, file)
  return ports
}

/** Returns whether a port of a mail server is in use. */
export async function areTaken(ports: Ports): Promise<boolean> {
  const names = (Object.keys(ports) as (keyof Ports)[]).filter(
    (one) => !OF_THE_SERVER.includes(one),
  )
  const free = await Promise.all(names.map((name) => isFree(ports[name])))
  return free.includes(false)
}

export const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const done = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('connect', () => done(true)).once('error', () => done(false))
  })

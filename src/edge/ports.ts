import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { freePort, isFree } from '../lib/free-port.ts'

/** The listeners by name, with the ports they have on a host of their own. */
export const STANDARD_PORTS = {
  smtp: 25,
  submission: 587,
  smtps: 465,
  internal: 10587,
  filter: 10025,
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
  milter: 11332,
  scanner: 11333,
  controller: 11334,
}

export type Ports = Record<keyof typeof STANDARD_PORTS, number>

/** Ports once chosen are kept: clients and the server's settings name them. */
export async function keptPorts(file: string, isRunning: boolean): Promise<Ports> {
  const kept: Partial<Ports> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  const ports = { ...STANDARD_PORTS }
  const taken = new Set<number>()
  for (const name of Object.keys(ports) as (keyof Ports)[]) {
    let port = kept[name]
    // On the filter's port a server of ours may listen already: that is what it is for.
    const isOurs = isRunning || name === 'filter'
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

/** Whether somebody else has taken one of them; of a server of ours on the filter's port nobody minds. */
export async function areTaken({ filter: _, ...ports }: Ports): Promise<boolean> {
  const free = await Promise.all(Object.values(ports).map(isFree))
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

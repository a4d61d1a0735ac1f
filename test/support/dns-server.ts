import { createSocket } from 'node:dgram'
import type { AddressInfo } from 'node:net'

type Records = Record<string, { A?: string[]; CNAME?: string[]; MX?: string[]; TXT?: string[] }>

const CNAME = 5
type Kind = 'A' | 'CNAME' | 'MX' | 'TXT'

const TYPES: Record<number, Kind> = { 1: 'A', 5: 'CNAME', 15: 'MX', 16: 'TXT' }

export type DnsServer = Awaited<ReturnType<typeof startDnsServer>>

/** A DNS server on loopback with configurable records that can stop responding. */
export async function startDnsServer(records: Records = {}, at = { host: '127.0.0.1', port: 0 }) {
  const socket = createSocket('udp4')
  const state = { records, silent: false, silentAbout: [] as string[] }
  socket.on('message', (query, from) => {
    const { name, type, end } = question(query)
    if (state.silent || state.silentAbout.includes(name)) return
    const known = TYPES[type]
    const zone = state.records[name]
    const alias = known === 'CNAME' ? undefined : zone?.CNAME?.[0]
    const answers = (known && (alias ? state.records[alias] : zone)?.[known]) ?? []
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2)
    // A response with recursion available; an unknown name does not exist.
    header.writeUInt16BE(zone ? 0x8180 : 0x8183, 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(answers.length + (alias ? 1 : 0), 6)
    const parts = [
      ...(alias ? [record(CNAME, encodeName(alias))] : []),
      ...answers.map((value) => record(type, data(known as 'A', value), alias)),
    ]
    socket.send(Buffer.concat([header, query.subarray(12, end), ...parts]), from.port, from.address)
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.bind(at.port, at.host, resolve)
  })
  return {
    state,
    address: `${at.host}:${(socket.address() as AddressInfo).port}`,
    /** Removes all records and responds again. */
    reset() {
      state.records = {}
      state.silent = false
      state.silentAbout = []
    },
    stop: () => new Promise<void>((resolve) => socket.close(() => resolve())),
  }
}

function question(query: Buffer) {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] as number; length > 0; length = query[at] as number) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

/** A record of the name in the question, or of its alias. */
function record(type: number, content: Buffer, alias?: string): Buffer {
  const owner = alias === undefined ? Buffer.of(0xc0, 0x0c) : encodeName(alias)
  const head = Buffer.alloc(10)
  head.writeUInt16BE(type, 0)
  head.writeUInt16BE(1, 2)
  head.writeUInt16BE(content.length, 8)
  return Buffer.concat([owner, head, content])
}

function data(type: Kind, value: string): Buffer {
  if (type === 'A') return Buffer.from(value.split('.').map(Number))
  if (type === 'CNAME') return encodeName(value)
  if (type === 'MX') return Buffer.concat([Buffer.from([0, 10]), encodeName(value)])
  const strings = value.match(/.{1,255}/g) ?? ['']
  return Buffer.concat(
    strings.map((part) => Buffer.concat([Buffer.of(part.length), Buffer.from(part, 'latin1')])),
  )
}

const encodeName = (name: string): Buffer =>
  Buffer.concat([
    ...name.split('.').map((label) => Buffer.concat([Buffer.of(label.length), Buffer.from(label)])),
    Buffer.of(0),
  ])

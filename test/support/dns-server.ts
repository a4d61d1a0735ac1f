import { createSocket } from 'node:dgram'
import type { AddressInfo } from 'node:net'

type Records = Record<string, { A?: string[]; CNAME?: string[]; MX?: string[]; TXT?: string[] }>

type Kind = 'A' | 'CNAME' | 'MX' | 'TXT'

const TYPES: Record<number, Kind> = { 1: 'A', 5: 'CNAME', 15: 'MX', 16: 'TXT' }

/** A name server on loopback that knows what it is told, and can fall silent. */
export async function startDnsServer(records: Records = {}) {
  const socket = createSocket('udp4')
  const state = { records, silent: false }
  socket.on('message', (query, from) => {
    if (state.silent) return
    const { name, type, end } = question(query)
    const known = TYPES[type]
    const zone = state.records[name]
    const answers = (known && zone?.[known]) ?? []
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2)
    // An answer, recursion available; a name nobody knows does not exist.
    header.writeUInt16BE(zone ? 0x8180 : 0x8183, 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(answers.length, 6)
    const parts = answers.map((value) => record(type, data(known as 'A', value)))
    socket.send(Buffer.concat([header, query.subarray(12, end), ...parts]), from.port, from.address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return {
    state,
    address: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
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

function record(type: number, content: Buffer): Buffer {
  const head = Buffer.alloc(12)
  head.writeUInt16BE(0xc00c, 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(content.length, 10)
  return Buffer.concat([head, content])
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

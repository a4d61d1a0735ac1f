import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { until } from './process.ts'

const RECORDER = fileURLToPath(new URL('wire-recorder.py', import.meta.url))

/** The bytes that one side of a connection sent. */
export interface Stream {
  from: string
  to: string
  /** The port of the server, which is the lower one. */
  port: number
  bytes: Buffer
}

/** Records the TCP connections of a network; `through` begins a command that runs in it. */
export async function startWire(through: readonly string[]) {
  const [program = '', ...args] = [...through, 'python3', RECORDER]
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const chunks: Buffer[] = []
  let output = ''
  child.stdout.on('data', (chunk) => chunks.push(chunk))
  child.stderr.setEncoding('utf8').on('data', (text) => {
    output += text
  })
  await until(() => output.includes('ready') || child.exitCode !== null)
  if (child.exitCode !== null) throw new Error(`the wire cannot be recorded: ${output}`)
  return {
    recorded(): Stream[] {
      const all = Buffer.concat(chunks)
      const streams = new Map<string, Stream & { parts: Map<number, Buffer> }>()
      for (let at = 0, size = 0; at + 4 <= all.length; at += 4 + size) {
        size = all.readUInt32BE(at)
        const packet = all.subarray(at + 4, at + 4 + size)
        if (packet.length < size) break
        add(streams, packet)
      }
      return [...streams.values()].map(({ parts, ...stream }) => ({
        ...stream,
        bytes: inOrder(parts),
      }))
    },
    async stop() {
      child.kill('SIGKILL')
      await until(() => child.exitCode !== null || child.signalCode !== null)
    },
  }
}

/** Joins segments by their sequence numbers; a repeated one may be longer or shorter than the first. */
function inOrder(parts: ReadonlyMap<number, Buffer>): Buffer {
  const [first = 0] = parts.keys()
  const distance = (sequence: number) => (sequence - first) | 0
  const sorted = [...parts].sort(([one], [other]) => distance(one) - distance(other))
  const pieces: Buffer[] = []
  let end = distance(sorted[0]?.[0] ?? first)
  for (const [sequence, content] of sorted) {
    const known = end - distance(sequence)
    // A segment before it was not recorded: records of TLS cannot be found after the gap.
    if (known < 0) break
    if (known >= content.length) continue
    pieces.push(content.subarray(known))
    end = distance(sequence) + content.length
  }
  return Buffer.concat(pieces)
}

/** Adds the content of a TCP segment. */
function add(streams: Map<string, Stream & { parts: Map<number, Buffer> }>, packet: Buffer): void {
  const ipHeader = ((packet[0] ?? 0) & 15) * 4
  const tcp = packet.subarray(ipHeader, packet.readUInt16BE(2))
  const content = tcp.subarray(((tcp[12] ?? 0) >> 4) * 4)
  if (content.length === 0) return
  const [from, to] = [12, 16].map((offset) => packet.subarray(offset, offset + 4).join('.'))
  const [source, target] = [tcp.readUInt16BE(0), tcp.readUInt16BE(2)]
  const key = `${from}:${source} ${to}:${target}`
  const stream = streams.get(key) ?? {
    from: from as string,
    to: to as string,
    port: Math.min(source, target),
    bytes: Buffer.alloc(0),
    parts: new Map<number, Buffer>(),
  }
  const sequence = tcp.readUInt32BE(4)
  const known = stream.parts.get(sequence)?.length ?? 0
  if (content.length > known) stream.parts.set(sequence, Buffer.from(content))
  streams.set(key, stream)
}

const TLS_TYPES = new Set([20, 21, 22, 23])
const LARGEST_RECORD = 16_640

/** The bytes of a stream before TLS begins; all of them when something else follows than records of TLS. */
export function beforeTls({ bytes }: Stream): string {
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === 22 && areRecords(bytes.subarray(at))) return bytes.toString('latin1', 0, at)
  }
  return bytes.toString('latin1')
}

/** RFC 8446 §5.1: a type, a version and a length before the content. */
function areRecords(bytes: Buffer): boolean {
  let at = 0
  while (at + 5 <= bytes.length) {
    const size = bytes.readUInt16BE(at + 3)
    const isRecord = TLS_TYPES.has(bytes[at] as number) && bytes[at + 1] === 3
    if (!isRecord || size > LARGEST_RECORD) return false
    at += 5 + size
  }
  return true
}

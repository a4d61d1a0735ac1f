const MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')

/** A small country database in MaxMind format; version 6 stores IPv4 in the IPv6 tree. */
export function geoFile(
  networks: Record<string, string>,
  recordBits = 24,
  ipVersion: 4 | 6 = 6,
): Buffer {
  type Node = [Node | number | undefined, Node | number | undefined]
  const root: Node = [undefined, undefined]
  const data: Buffer[] = []
  const offsets: number[] = []
  for (const [network, country] of Object.entries(networks)) {
    const [address = '', length = ''] = network.split('/')
    const isV4 = !address.includes(':')
    const zeros = isV4 && ipVersion === 6 ? 96 : 0
    const bits = isV4 ? '0'.repeat(zeros) + bitsOfV4(address) : bitsOfV6(address)
    const prefix = bits.slice(0, Number(length) + zeros)
    offsets.push(data.reduce((sum, { length: size }) => sum + size, 0))
    data.push(encode({ country: { iso_code: country } }))
    let node = root
    for (const bit of prefix.slice(0, -1)) {
      node[Number(bit)] ??= [undefined, undefined]
      node = node[Number(bit)] as Node
    }
    node[Number(prefix.at(-1))] = data.length - 1
  }

  const nodes: Node[] = []
  const number = (node: Node) => {
    nodes.push(node)
    for (const child of node) if (Array.isArray(child)) number(child)
  }
  number(root)
  const record = (child: Node | number | undefined): number => {
    if (child === undefined) return nodes.length
    return Array.isArray(child)
      ? nodes.indexOf(child)
      : nodes.length + 16 + (offsets[child] as number)
  }
  const tree = nodes.map(([zero, one]) => pair(record(zero), record(one), recordBits))
  const metadata = encode({
    node_count: nodes.length,
    record_size: recordBits,
    ip_version: ipVersion,
  })
  return Buffer.concat([...tree, Buffer.alloc(16), ...data, MARKER, metadata])
}

function pair(left: number, right: number, bits: number): Buffer {
  const bytes = Buffer.alloc(bits / 4)
  if (bits === 32) {
    bytes.writeUInt32BE(left, 0)
    bytes.writeUInt32BE(right, 4)
    return bytes
  }
  bytes.writeUIntBE(left & 0xffffff, 0, 3)
  bytes.writeUIntBE(right & 0xffffff, bytes.length - 3, 3)
  if (bits === 28) bytes[3] = ((left >>> 24) << 4) | (right >>> 24)
  return bytes
}

function encode(value: unknown): Buffer {
  if (typeof value === 'string') {
    return Buffer.concat([Buffer.from([(2 << 5) | value.length]), Buffer.from(value)])
  }
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(value)
    return Buffer.concat([Buffer.from([(6 << 5) | 4]), bytes])
  }
  const entries = Object.entries(value as object)
  const parts = entries.flatMap(([name, part]) => [encode(name), encode(part)])
  return Buffer.concat([Buffer.from([(7 << 5) | entries.length]), ...parts])
}

const binary = (value: number, length: number) => value.toString(2).padStart(length, '0')
const bitsOfV4 = (address: string) =>
  address
    .split('.')
    .map((byte) => binary(Number(byte), 8))
    .join('')
function bitsOfV6(address: string): string {
  const [head = '', tail = ''] = address.split('::')
  const words = (text: string) => (text ? text.split(':') : [])
  const gap = 8 - words(head).length - words(tail).length
  return [...words(head), ...new Array(gap).fill('0'), ...words(tail)]
    .map((word) => binary(Number.parseInt(word, 16), 16))
    .join('')
}

import { inflateRawSync } from 'node:zlib'

/** The entries of a zip file by name, read from its central directory. */
export function unzip(file: Buffer): Map<string, Buffer> {
  const end = file.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'))
  if (end === -1) throw new Error('not a whole zip')
  const entries = new Map<string, Buffer>()
  let at = file.readUInt32LE(end + 16)
  for (let left = file.readUInt16LE(end + 10); left > 0; left--) {
    const [method, size] = [file.readUInt16LE(at + 10), file.readUInt32LE(at + 20)]
    const [nameLength, extra] = [file.readUInt16LE(at + 28), file.readUInt16LE(at + 30)]
    const local = file.readUInt32LE(at + 42)
    const name = file.toString('utf8', at + 46, at + 46 + nameLength)
    const start = local + 30 + file.readUInt16LE(local + 26) + file.readUInt16LE(local + 28)
    const content = file.subarray(start, start + size)
    entries.set(name, method === 0 ? Buffer.from(content) : inflateRawSync(content))
    at += 46 + nameLength + extra + file.readUInt16LE(at + 32)
  }
  return entries
}

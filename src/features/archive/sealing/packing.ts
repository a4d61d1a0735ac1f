import { promisify } from 'node:util'
import * as zlib from 'node:zlib'

type Convert = (bytes: Buffer) => Promise<Buffer>

// Node 20 has no zstd, which takes a tenth of the time of gzip.
const zstd = zlib as unknown as Partial<Record<'zstdCompress' | 'zstdDecompress', never>>
const converter = (name: 'zstdCompress' | 'zstdDecompress'): Convert | undefined => {
  const convert = zstd[name]
  return convert && (promisify(convert) as unknown as Convert)
}
const compress = converter('zstdCompress')
const decompress = converter('zstdDecompress')
const gzip = promisify(zlib.gzip) as Convert
const gunzip = promisify(zlib.gunzip) as Convert

/** Compresses a message, in a thread of Node; the suffix of its object says how. */
export async function pack(message: Buffer): Promise<{ packed: Buffer; suffix: string }> {
  if (compress) return { packed: await compress(message), suffix: 'eml.zst.age' }
  return { packed: await gzip(message), suffix: 'eml.gz.age' }
}

export async function unpack(packed: Buffer, key: string): Promise<Buffer> {
  if (!key.endsWith('.zst.age')) return gunzip(packed)
  if (!decompress) throw new Error('this version of Node cannot read zstd')
  return decompress(packed)
}

import { promisify } from 'node:util'
import * as zlib from 'node:zlib'

// Node 20 has no zstd, which takes a tenth of the time of gzip.
const { zstdCompress, zstdCompressSync, zstdDecompress } = zlib as unknown as {
  zstdCompress?: typeof zlib.gzip
  zstdCompressSync?: typeof zlib.gzipSync
  zstdDecompress?: typeof zlib.gunzip
}
const compress = zstdCompress && promisify(zstdCompress)
const decompress = zstdDecompress && promisify(zstdDecompress)
const gzip = promisify(zlib.gzip)
const gunzip = promisify(zlib.gunzip)

/** Up to this size the way to a thread and back takes longer than the compression. */
const SMALL_BYTES = 64 * 1024

/** Compresses a message, a large one in a thread of Node; the suffix of its object says how. */
export async function pack(message: Buffer): Promise<{ packed: Buffer; suffix: string }> {
  if (!compress || !zstdCompressSync) return { packed: await gzip(message), suffix: 'eml.gz.age' }
  const isSmall = message.length <= SMALL_BYTES
  const packed = isSmall ? zstdCompressSync(message) : await compress(message)
  return { packed, suffix: 'eml.zst.age' }
}

export async function unpack(packed: Buffer, key: string): Promise<Buffer> {
  if (!key.endsWith('.zst.age')) return gunzip(packed)
  if (!decompress) throw new Error('this version of Node cannot read zstd')
  return decompress(packed)
}

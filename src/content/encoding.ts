import { buffer } from 'node:stream/consumers'
import type { Part } from './split.ts'

/** The body of a part without its transfer encoding. */
export async function decodedBody({ node, body }: Part): Promise<Buffer> {
  if (node.encoding !== 'base64' && node.encoding !== 'quoted-printable') return body
  const decoder = node.getDecoder()
  decoder.end(body)
  return buffer(decoder)
}

/** Gives a part a new body, in the given transfer encoding. */
export async function setBody(part: Part, bytes: Buffer, encoding: string): Promise<void> {
  const { node } = part
  const encoder = node.getEncoder(encoding)
  encoder.end(bytes)
  part.body = await buffer(encoder)
}

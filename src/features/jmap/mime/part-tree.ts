import libmime from 'libmime'
import { strictText, textOf } from '../../../mime/charset.ts'
import { decodedBody } from '../../../mime/encoded-body.ts'
import { headersOf, MAX_HEADER_LINES, utf8 } from '../../../mime/headers.ts'
import { type Part, readStructure } from '../../../mime/structure.ts'
import { decodeWords } from '../../../mime/words.ts'
import type { Field } from './header-forms.ts'

/** The properties that make a part text, attachment or both; BODYSTRUCTURE has them too. */
export interface PartFacts {
  type: string
  disposition: string | null
  name: string | null
  cid: string | null
  subParts: PartFacts[] | null
}

/** A part of a message as JMAP shows it. */
export interface MailPart extends PartFacts {
  /** Null for a multipart. */
  partId: string | null
  fields: Field[]
  charset: string | null
  language: string[] | null
  location: string | null
  size: number
  subParts: MailPart[] | null
  /** The place of its body in the message, and the transfer encoding of it. */
  encoded: { from: number; to: number; encoding: string }
  body(): Promise<Buffer>
}

const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+$/

/** A message that came by SMTP has no more fields. */
export const fieldsOf = (bytes: Buffer): Field[] =>
  headersOf(bytes)
    .slice(0, MAX_HEADER_LINES)
    .filter(({ line }) => line.indexOf(':') > 0)
    .map(({ line }) => {
      const text = utf8(line)
      const colon = text.indexOf(':')
      const value = text.slice(colon + 1).replace(/\r?\n$/, '')
      return { name: text.slice(0, colon).trimEnd(), value: value.replaceAll('\0', '') }
    })

/** The parts of a message as a tree, and the header of the message. */
export async function readTree(raw: Buffer): Promise<MailPart> {
  const { parts } = readStructure(raw)
  const [root] = await treeOf(raw, parts, 0, 0, '')
  return root as MailPart
}

/** `parts` is in the order of the message, so the parts of a multipart directly follow it. */
async function treeOf(
  raw: Buffer,
  parts: readonly Part[],
  from: number,
  depth: number,
  prefix: string,
): Promise<MailPart[]> {
  const siblings: MailPart[] = []
  for (let at = from; at < parts.length; at++) {
    const part = parts[at] as Part
    if (part.within.length < depth) break
    if (part.within.length > depth) continue
    const path = depth === 0 ? '' : `${prefix}${prefix && '.'}${siblings.length + 1}`
    const isMultipart = Boolean(part.node.multipart)
    const subParts = isMultipart ? await treeOf(raw, parts, at + 1, depth + 1, path) : null
    siblings.push(await mailPart(raw, part, path || '1', subParts))
  }
  return siblings
}

async function mailPart(
  raw: Buffer,
  part: Part,
  partId: string,
  subParts: MailPart[] | null,
): Promise<MailPart> {
  const fields = fieldsOf(raw.subarray(part.start, part.bodyStart))
  const value = (name: string) => fields.find((field) => field.name.toLowerCase() === name)?.value
  const contentType = parameters(value('content-type'))
  const disposition = parameters(value('content-disposition'))
  const type = typeOf(contentType.value)
  return {
    partId: subParts ? null : partId,
    fields,
    type,
    charset: type.startsWith('text/') ? (contentType.params.charset ?? 'us-ascii') : null,
    disposition: disposition.value ? disposition.value.toLowerCase() : null,
    name: nameOf(disposition.params.filename ?? contentType.params.name),
    cid: value('content-id')?.trim().replace(/^<|>$/g, '') || null,
    language:
      value('content-language')
        ?.trim()
        .split(/\s*,\s*/) ?? null,
    location: value('content-location')?.trim() ?? null,
    size: subParts ? 0 : (await decodedBody(part)).length,
    subParts,
    encoded: { from: part.bodyStart, to: part.end, encoding: part.node.encoding || '' },
    body: () => decodedBody(part),
  }
}

export function typeOf(value: string | undefined): string {
  const type = (value || 'text/plain').trim().toLowerCase()
  return MEDIA_TYPE.test(type) ? type : 'text/plain'
}

function parameters(value = ''): { value: string; params: Record<string, string> } {
  const flat = value.replace(/\r?\n(?=[ \t])/g, '').replace(/\([^()]*\)/g, '')
  return libmime.parseHeaderValue(flat) as { value: string; params: Record<string, string> }
}

export function nameOf(value: string | undefined): string | null {
  return value ? decodeWords(value).toWellFormed() : null
}

export const leavesOf = (part: MailPart): MailPart[] =>
  part.subParts ? part.subParts.flatMap(leavesOf) : [part]

/** The text of a part; a wrong or unknown charset is a problem that the client can show. */
export async function textOfPart(part: MailPart) {
  const bytes = await part.body()
  const charset = part.charset ?? 'utf-8'
  const isEncodingProblem = strictText(bytes, charset) === undefined
  const value = textOf(bytes, charset).replaceAll('\r\n', '\n').replaceAll('\0', '')
  return { value: value.toWellFormed(), isEncodingProblem }
}

import { Parser } from 'htmlparser2'
import { textOf } from './charset.ts'
import { decodedBody } from './encoding.ts'
import { type Attachment, attachmentOf, fieldsOf, isAttachment } from './message.ts'
import { type Part, type Split, splitMessage } from './split.ts'

const MAX_ATTACHED = 5

/** Text of a message, and where in it. */
export interface Passage {
  where: 'subject' | 'body' | 'attachment' | 'attachment name'
  text: string
}

export interface Contents {
  passages: Passage[]
  attachments: Attachment[]
  /** Why not everything was looked at, if that is so. */
  unread: string | undefined
}

/** All text that a message holds, in attached messages too. Archives and documents stay closed. */
export async function contentsOf(split: Split, depth = 0): Promise<Contents> {
  const contents: Contents = { passages: [], attachments: [], unread: split.unread }
  for (const text of fieldsOf(split.root.node, 'subject')) {
    contents.passages.push({ where: 'subject', text })
  }
  if (split.unread !== undefined) return contents
  for (const part of split.parts) {
    if (part.node.multipart) continue
    if (isAttachment(part)) {
      const attachment = attachmentOf(part)
      contents.attachments.push(attachment)
      if (attachment.name)
        contents.passages.push({ where: 'attachment name', text: attachment.name })
    }
    if (part.node.contentType === 'message/rfc822') await readAttached(part, contents, depth)
    else if ((part.node.contentType || 'text/plain').startsWith('text/')) {
      contents.passages.push(await passageOf(part))
    }
  }
  return contents
}

async function readAttached(part: Part, contents: Contents, depth: number): Promise<void> {
  if (depth >= MAX_ATTACHED) {
    contents.unread ??= 'Messages are attached to each other too deeply'
    return
  }
  const inner = await contentsOf(await splitMessage(await decodedBody(part)), depth + 1)
  contents.passages.push(...inner.passages)
  contents.attachments.push(...inner.attachments)
  contents.unread ??= inner.unread
}

async function passageOf(part: Part): Promise<Passage> {
  const text = textOf(await decodedBody(part), part.node.charset)
  return {
    where: isAttachment(part) ? 'attachment' : 'body',
    text: part.node.contentType === 'text/html' ? withoutTags(text) : text,
  }
}

const INLINE = new Set(
  'a abbr b bdi bdo code em font i kbd mark q s samp small span strong sub sup u wbr'.split(' '),
)

/** What HTML says, also what it hides in comments; emphasis in the middle of a word splits nothing. */
function withoutTags(html: string): string {
  const pieces: string[] = []
  const gap = (name: string) => {
    if (!INLINE.has(name)) pieces.push('\n')
  }
  const parser = new Parser({
    ontext: (text) => pieces.push(text),
    oncomment: (text) => pieces.push(`\n${text}\n`),
    onopentag: gap,
    onclosetag: gap,
  })
  parser.end(html)
  return pieces.join('')
}

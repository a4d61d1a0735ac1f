import { textOf } from './charset.ts'
import { decodedBody } from './encoded-body.ts'
import { scanHtml } from './html.ts'
import { MimeMessage } from './message.ts'
import { type Attachment, attachmentOf, isAttachment } from './parts.ts'
import type { Part } from './structure.ts'

const MAX_ATTACHED = 5

/** A text of a message, and where it was found. */
export interface Passage {
  where: 'subject' | 'body' | 'attachment' | 'attachment name'
  text: string
}

export interface MessageTexts {
  passages: Passage[]
  attachments: Attachment[]
  /** The reason why some of it was not read, if so. */
  unread: string | undefined
}

/** All texts of a message and of messages attached to it. Archives and documents are not opened. */
export async function textsOf(message: MimeMessage, depth = 0): Promise<MessageTexts> {
  const { parts, unread } = message.structure
  const texts: MessageTexts = {
    passages: message.fields('subject').map((text) => ({ where: 'subject', text })),
    attachments: [],
    unread,
  }
  if (unread !== undefined) return texts
  for (const part of parts) {
    if (part.node.multipart) continue
    if (isAttachment(part)) {
      const attachment = attachmentOf(part)
      texts.attachments.push(attachment)
      if (attachment.name) texts.passages.push({ where: 'attachment name', text: attachment.name })
    }
    if (part.node.contentType === 'message/rfc822') await readAttached(part, texts, depth)
    else if ((part.node.contentType || 'text/plain').startsWith('text/')) {
      texts.passages.push(await passageOf(part))
    }
  }
  return texts
}

async function readAttached(part: Part, texts: MessageTexts, depth: number): Promise<void> {
  if (depth >= MAX_ATTACHED) {
    texts.unread ??= 'Messages are attached to each other too deeply'
    return
  }
  const inner = await textsOf(new MimeMessage(await decodedBody(part)), depth + 1)
  texts.passages.push(...inner.passages)
  texts.attachments.push(...inner.attachments)
  texts.unread ??= inner.unread
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

/** The text of HTML with its comments. Inline elements do not split words. */
function withoutTags(html: string): string {
  const pieces: string[] = []
  const gap = (name: string) => {
    if (!INLINE.has(name)) pieces.push('\n')
  }
  scanHtml(html, {
    text: (text) => pieces.push(text),
    comment: (text) => pieces.push(`\n${text}\n`),
    openTag: gap,
    closeTag: gap,
  })
  return pieces.join('')
}

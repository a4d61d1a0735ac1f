import type { PartFacts } from './part-tree.ts'

interface BodyLists<Part> {
  textBody: Part[]
  htmlBody: Part[]
  attachments: Part[]
}

const isMedia = (type: string) => /^(image|audio|video)\//.test(type)
const isText = (type: string) => type === 'text/plain' || type === 'text/html'

/** RFC 8621 section 4.1.4: which parts a program shows as the text and which as attachments. */
export function bodyLists<Part extends PartFacts>(root: Part): BodyLists<Part> {
  const lists: BodyLists<Part> = { textBody: [], htmlBody: [], attachments: [] }
  sortParts([root], { multipart: 'mixed', inAlternative: false }, lists, {
    text: lists.textBody,
    html: lists.htmlBody,
  })
  return lists
}

interface Place {
  multipart: string
  inAlternative: boolean
}

/** The lists that are still being filled. Inside of an alternative one of them may be closed. */
interface Targets<Part> {
  text: Part[] | undefined
  html: Part[] | undefined
}

function sortParts<Part extends PartFacts>(
  parts: readonly Part[],
  place: Place,
  lists: BodyLists<Part>,
  targets: Targets<Part>,
): void {
  const open = { ...targets }
  const textsBefore = open.text?.length ?? -1
  const htmlsBefore = open.html?.length ?? -1
  parts.forEach((part, index) => {
    if (part.subParts) {
      const multipart = part.type.split('/')[1] ?? 'mixed'
      const inAlternative = place.inAlternative || multipart === 'alternative'
      sortParts(part.subParts as Part[], { multipart, inAlternative }, lists, open)
    } else if (isInline(part, index, place.multipart)) addInline(part, place, lists, open)
    else lists.attachments.push(part)
  })
  if (place.multipart !== 'alternative' || !open.text || !open.html) return
  // One of the alternatives is missing: the other one serves for both.
  const { text, html } = open
  const hasNewTexts = text.length !== textsBefore
  const hasNewHtmls = html.length !== htmlsBefore
  if (!hasNewTexts && hasNewHtmls) text.push(...html.slice(htmlsBefore))
  if (!hasNewHtmls && hasNewTexts) html.push(...text.slice(textsBefore))
}

function isInline(part: PartFacts, index: number, multipart: string): boolean {
  if (part.disposition === 'attachment') return false
  if (!isText(part.type) && !isMedia(part.type)) return false
  return index === 0 || (multipart !== 'related' && (isMedia(part.type) || !part.name))
}

function addInline<Part extends PartFacts>(
  part: Part,
  { multipart, inAlternative }: Place,
  lists: BodyLists<Part>,
  open: Targets<Part>,
): void {
  if (multipart === 'alternative') {
    if (part.type === 'text/plain') open.text?.push(part)
    else if (part.type === 'text/html') open.html?.push(part)
    else lists.attachments.push(part)
    return
  }
  if (inAlternative) {
    if (part.type === 'text/plain') open.html = undefined
    if (part.type === 'text/html') open.text = undefined
  }
  open.text?.push(part)
  open.html?.push(part)
  if ((!open.text || !open.html) && isMedia(part.type)) lists.attachments.push(part)
}

/** Returns whether a person would see an attachment. */
export const hasAttachment = (root: PartFacts): boolean =>
  bodyLists(root).attachments.some((part) => part.disposition !== 'inline' || !part.cid)

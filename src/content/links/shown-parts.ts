import { hasAsciiMarkup } from '../../mime/charset.ts'
import { hasOneType, isProtected, isWellFormed } from '../../mime/parts.ts'
import type { Part } from '../../mime/structure.ts'

/** HTML that is shown as the text of the message and can be changed byte by byte. */
export const isShownHtml = (part: Part): boolean =>
  part.node.contentType === 'text/html' && isChangeable(part)

/** The same for plain text; a part without a type is plain text. */
export const isShownText = (part: Part): boolean =>
  !part.node.multipart &&
  (part.node.contentType || 'text/plain') === 'text/plain' &&
  isChangeable(part)

function isChangeable(part: Part): boolean {
  const { node, within } = part
  const isShown = (node.disposition || 'inline') === 'inline' && !node.filename
  return (
    isShown &&
    hasAsciiMarkup(node.charset) &&
    !isProtected(part) &&
    !within.some(({ multipart }) => multipart === 'report') &&
    [...within, node].every((one) => isWellFormed(one) && hasOneType(one))
  )
}

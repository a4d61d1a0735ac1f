import { plainTextOf } from '../../../mime/plain-text.ts'
import {
  type Attachment,
  type Common,
  composeAttachments,
  composeLetter,
  type Letter,
} from './compose.ts'

interface Wanted {
  letters: readonly Letter[]
  common: Common
  attachments: readonly Attachment[]
}

export interface Composed {
  contents: string[]
  /** The end of every message, when there are attachments. */
  end: string | undefined
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/**
 * Writes messages. A letter without plain text gets the text of its HTML. Returns the place of an
 * attachment that is not in base64 instead.
 */
export default ({ letters, common, attachments }: Wanted): Composed | { unreadable: number } => {
  const unreadable = attachments.findIndex(
    ({ content }) => content !== '' && (content.length % 4 !== 0 || !BASE64.test(content)),
  )
  if (unreadable !== -1) return { unreadable }
  const { boundary } = common
  return {
    contents: letters.map((letter) => composeLetter(withText(letter), common)),
    end: boundary === undefined ? undefined : composeAttachments(attachments, boundary),
  }
}

function withText(letter: Letter): Letter {
  const { html, text } = letter
  return html === undefined || text !== undefined ? letter : { ...letter, text: plainTextOf(html) }
}

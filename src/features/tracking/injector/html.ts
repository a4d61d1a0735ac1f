import { isUtf8 } from 'node:buffer'
import { QuoteType, Tokenizer } from 'htmlparser2'

const MAX_URL = 4096

export interface Link {
  /** Where the value of the attribute is, without its quotes. */
  start: number
  end: number
  isQuoted: boolean
  url: URL
}

export interface Html {
  links: Link[]
  /** Where the pixel goes: before the end of the body, or at the end of it all. */
  pixelAt: number
}

/** What of a page is of interest; its text holds one character for each byte. */
export function readHtml(text: string, isUtf8Text: boolean): Html | undefined {
  // Half of another encoding, or one that switches: nothing that can be read byte by byte.
  if (/[\0\x1b]/.test(text) || /^(\xff\xfe|\xfe\xff)/.test(text)) return undefined
  const links: Link[] = []
  let bodyEnd: number | undefined
  let htmlEnd: number | undefined
  let tag = ''
  let attribute = ''
  let nameEnd = 0
  let value: string | undefined = ''
  let hasHref = false

  const nothing = () => {}
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      onopentagname(start, end) {
        tag = text.slice(start, end).toLowerCase()
        hasHref = false
        // What comes after the end belongs to the body all the same.
        bodyEnd = undefined
      },
      onattribname(start, end) {
        attribute = text.slice(start, end).toLowerCase()
        nameEnd = end
        value = ''
      },
      onattribdata(start, end) {
        const piece = decodedText(text.slice(start, end), isUtf8Text)
        value = value === undefined || piece === undefined ? undefined : value + piece
      },
      onattribentity(codepoint) {
        if (value !== undefined) value += String.fromCodePoint(codepoint)
      },
      onattribend(quote, end) {
        const isLink = (tag === 'a' || tag === 'area') && attribute === 'href'
        // The first of two attributes with one name counts.
        if (!isLink || hasHref || quote === QuoteType.NoValue) return
        hasHref = true
        const url = webAddress(value)
        if (!url) return
        const start = nameEnd + (/^\s*=\s*["']?/.exec(text.slice(nameEnd, end))?.[0].length ?? 0)
        // It counts the closing quote as part of the value.
        const isQuoted = quote !== QuoteType.Unquoted
        links.push({ start, end: isQuoted ? end - 1 : end, isQuoted, url })
      },
      onclosetag(start, end) {
        const name = text.slice(start, end).trim().toLowerCase()
        if (name === 'body') bodyEnd ??= text.lastIndexOf('<', start)
        if (name === 'html') htmlEnd = text.lastIndexOf('<', start)
      },
      oncdata: nothing,
      oncomment: nothing,
      ondeclaration: nothing,
      onend: nothing,
      onopentagend: nothing,
      onprocessinginstruction: nothing,
      onselfclosingtag: nothing,
      ontext: nothing,
      ontextentity: nothing,
    },
  )
  tokenizer.write(text)
  tokenizer.end()
  return { links, pixelAt: bodyEnd ?? htmlEnd ?? text.length }
}

const decodedText = (piece: string, isUtf8Text: boolean): string | undefined => {
  if (!/[\x80-\xff]/.test(piece)) return piece
  const bytes = Buffer.from(piece, 'latin1')
  return isUtf8Text && isUtf8(bytes) ? bytes.toString('utf8') : undefined
}

/** Addresses of the web alone; one with a password in it is not to be kept anywhere. */
function webAddress(value: string | undefined): URL | undefined {
  const text = value?.trim() ?? ''
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  return url.username === '' && url.password === '' && url.href.length <= MAX_URL ? url : undefined
}

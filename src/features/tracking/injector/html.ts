import { isUtf8 } from 'node:buffer'
import { QuoteType, Tokenizer } from 'htmlparser2'

const MAX_URL = 4096
const MAX_LINKS = 20_000

export interface Link {
  /** The range of the attribute value without quotes. */
  start: number
  end: number
  isQuoted: boolean
  url: URL
}

interface Html {
  links: Link[]
  /** Before the end tag of the body, or at the end of the text. */
  pixelAt: number
}

/** Finds the links and the place of the pixel. The text has one character for each byte. */
export function readHtml(text: string, isUtf8Text: boolean): Html | undefined {
  // UTF-16 and ISO 2022 cannot be read byte by byte.
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
        // Browsers append elements after the end tag to the body.
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
        // Of two attributes with one name, the first is used.
        if (!isLink || hasHref || quote === QuoteType.NoValue || links.length >= MAX_LINKS) return
        hasHref = true
        const url = webUrl(value)
        if (!url) return
        const start = nameEnd + (/^\s*=\s*["']?/.exec(text.slice(nameEnd, end))?.[0].length ?? 0)
        // The tokenizer counts the closing quote as part of the value.
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

/** Only http and https. A URL with a password must not be stored. */
function webUrl(value: string | undefined): URL | undefined {
  const text = value?.trim() ?? ''
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  return url.username === '' && url.password === '' && url.href.length <= MAX_URL ? url : undefined
}

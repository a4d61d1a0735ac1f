import { QuoteType, Tokenizer } from 'htmlparser2'

export interface Link<Target> {
  /** The range of the attribute value without quotes. */
  start: number
  end: number
  isQuoted: boolean
  tag: string
  target: Target
}

interface Html<Target> {
  links: Link<Target>[]
  /** Before the end tag of the body, or at the end of the text. */
  pixelAt: number
  /** The value of the first `<base href>`. */
  base: string | undefined
}

/** Says which attributes are links, and how their values are read. */
export interface LinkRules<Target> {
  maxLinks: number
  isLink(tag: string, attribute: string): boolean
  /** The characters of these bytes; undefined if they cannot be read. */
  decode(bytes: Buffer): string | undefined
  /** Undefined for a value that stays as it is. */
  read(value: string): Target | undefined
  /** Also reads the comments that Outlook shows as HTML. */
  inComments?: boolean
}

/** Finds the links and the place of the pixel. The text has one character for each byte. */
export function readHtml<Target>(text: string, rules: LinkRules<Target>): Html<Target> | undefined {
  // UTF-16 and ISO 2022 cannot be read byte by byte.
  if (/[\0\x1b]/.test(text) || /^(\xff\xfe|\xfe\xff)/.test(text)) return undefined
  const links: Link<Target>[] = []
  let bodyEnd: number | undefined
  let htmlEnd: number | undefined
  let base: string | undefined
  let tag = ''
  let attribute = ''
  let nameEnd = 0
  let value: string | undefined = ''
  let known = new Set<string>()

  /** Outlook shows `<!--[if mso]>…<![endif]-->`. */
  function readComment(start: number, end: number): void {
    if (!rules.inComments || !/^\[if\s/i.test(text.slice(start, start + 4))) return
    const inner = readHtml(text.slice(start, end), {
      ...rules,
      inComments: false,
      maxLinks: rules.maxLinks - links.length,
    })
    for (const link of inner?.links ?? []) {
      links.push({ ...link, start: link.start + start, end: link.end + start })
    }
  }

  const nothing = () => {}
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      onopentagname(start, end) {
        tag = text.slice(start, end).toLowerCase()
        known = new Set()
        // Browsers append elements after the end tag to the body.
        bodyEnd = undefined
      },
      onattribname(start, end) {
        attribute = text.slice(start, end).toLowerCase()
        nameEnd = end
        value = ''
      },
      onattribdata(start, end) {
        const piece = decodedText(text.slice(start, end), rules)
        value = value === undefined || piece === undefined ? undefined : value + piece
      },
      onattribentity(codepoint) {
        if (value !== undefined) value += String.fromCodePoint(codepoint)
      },
      onattribend(quote, end) {
        if (tag === 'base' && attribute === 'href') base ??= value
        if (!rules.isLink(tag, attribute) || known.has(attribute)) return
        if (quote === QuoteType.NoValue || links.length >= rules.maxLinks) return
        // Of two attributes with one name, the first is used.
        known.add(attribute)
        const target = value === undefined ? undefined : rules.read(value)
        if (target === undefined) return
        const start =
          nameEnd +
          (/^[ \t\n\f\r]*=[ \t\n\f\r]*["']?/.exec(text.slice(nameEnd, end))?.[0].length ?? 0)
        // The tokenizer counts the closing quote as part of the value.
        const isQuoted = quote !== QuoteType.Unquoted
        links.push({ start, end: isQuoted ? end - 1 : end, isQuoted, tag, target })
      },
      onclosetag(start, end) {
        const name = text.slice(start, end).trim().toLowerCase()
        if (name === 'body') bodyEnd ??= text.lastIndexOf('<', start)
        if (name === 'html') htmlEnd = text.lastIndexOf('<', start)
      },
      oncomment: (start, end, offset) => readComment(start, end - offset),
      oncdata: nothing,
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
  return { links, pixelAt: bodyEnd ?? htmlEnd ?? text.length, base }
}

const decodedText = <Target>(piece: string, rules: LinkRules<Target>): string | undefined =>
  /[\x80-\xff]/.test(piece) ? rules.decode(Buffer.from(piece, 'latin1')) : piece

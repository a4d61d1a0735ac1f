import { Tokenizer } from 'htmlparser2'

interface HtmlEvents {
  /** `end` is the offset after the tag. */
  openTag?(name: string, end: number): void
  /** `start` is the offset of the tag, `end` the offset after it. */
  closeTag?(name: string, start: number, end: number): void
  text?(text: string): void
  comment?(text: string): void
}

/**
 * Reads HTML in linear time. The Parser of htmlparser2 needs quadratic time for nested elements: a
 * million open tags block it for minutes.
 */
export function scanHtml(html: string, { openTag, closeTag, text, comment }: HtmlEvents): void {
  let name = ''
  const nothing = () => {}
  const opened = (endIndex: number) => openTag?.(name, endIndex + 1)
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      onopentagname(start, end) {
        name = html.slice(start, end).toLowerCase()
      },
      onopentagend: opened,
      onselfclosingtag: opened,
      onclosetag(start, end) {
        const close = html.indexOf('>', end)
        const after = close === -1 ? html.length : close + 1
        closeTag?.(html.slice(start, end).trim().toLowerCase(), html.lastIndexOf('<', start), after)
      },
      ontext: (start, end) => text?.(html.slice(start, end)),
      ontextentity: (codepoint) => text?.(String.fromCodePoint(codepoint)),
      oncomment: (start, end, offset) => comment?.(html.slice(start, end - offset)),
      oncdata: (start, end, offset) => comment?.(html.slice(start, end - offset)),
      onattribname: nothing,
      onattribdata: nothing,
      onattribentity: nothing,
      onattribend: nothing,
      ondeclaration: nothing,
      onprocessinginstruction: nothing,
      onend: nothing,
    },
  )
  tokenizer.write(html)
  tokenizer.end()
}

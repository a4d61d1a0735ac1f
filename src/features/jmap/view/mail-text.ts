import { Tokenizer } from 'htmlparser2'

const HIDDEN = new Set(['head', 'noscript', 'script', 'style', 'svg', 'template', 'title'])
const BLOCKS = new Set(
  `address article aside blockquote center dd div dl dt fieldset figure footer form h1 h2 h3 h4 h5 h6
  header hr main nav ol p pre section table tr ul`.split(/\s+/),
)
const PARAGRAPHS = new Set('blockquote h1 h2 h3 h4 h5 h6 ol p pre table ul'.split(' '))

/** The text of HTML in lines, for a plain view and for quotes. Takes linear time. */
export function textOfHtml(html: string): string {
  const reader = new Reader()
  let name = ''
  let attribute = ''
  let value = ''
  let link = ''
  const opened = () => reader.open(name, link)
  const nothing = () => {}
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      onopentagname(start, end) {
        name = html.slice(start, end).toLowerCase()
        link = ''
      },
      onattribname(start, end) {
        attribute = html.slice(start, end).toLowerCase()
        value = ''
      },
      onattribdata: (start, end) => {
        value += html.slice(start, end)
      },
      onattribentity: (codepoint) => {
        value += String.fromCodePoint(codepoint)
      },
      onattribend() {
        if (name === 'a' && attribute === 'href') link = value.trim()
      },
      onopentagend: opened,
      onselfclosingtag: opened,
      onclosetag: (start, end) => reader.close(html.slice(start, end).trim().toLowerCase()),
      ontext: (start, end) => reader.text(html.slice(start, end)),
      ontextentity: (codepoint) => reader.text(String.fromCodePoint(codepoint)),
      oncomment: nothing,
      oncdata: nothing,
      ondeclaration: nothing,
      onprocessinginstruction: nothing,
      onend: nothing,
    },
  )
  tokenizer.write(html)
  tokenizer.end()
  return reader.result()
}

/** Collects lines. Blanks count once, and lines are separated by one empty line at most. */
class Reader {
  #lines: string[] = []
  #line = ''
  #hidden = ''
  #link = ''
  #linkText = ''

  open(name: string, link: string): void {
    if (this.#hidden) return
    if (HIDDEN.has(name)) this.#hidden = name
    else if (name === 'br') this.#break(true)
    else if (name === 'li') {
      this.#break(false)
      this.#line = '- '
    } else if (name === 'td' || name === 'th') this.text(' ')
    else if (BLOCKS.has(name)) this.#block(name)
    if (name === 'a') {
      this.#link = /^https?:\/\//i.test(link) ? link : ''
      this.#linkText = ''
    }
  }

  close(name: string): void {
    if (this.#hidden) {
      if (name === this.#hidden) this.#hidden = ''
      return
    }
    if (name === 'a' && this.#link) {
      if (this.#linkText.trim() !== this.#link) this.#line += ` <${this.#link}>`
      this.#link = ''
    }
    if (BLOCKS.has(name)) this.#block(name)
  }

  text(text: string): void {
    if (this.#hidden) return
    const plain = text.replace(/[\s\0]+/g, ' ')
    const isAtBlank = this.#line === '' || this.#line.endsWith(' ')
    this.#line += isAtBlank ? plain.trimStart() : plain
    if (this.#link) this.#linkText += plain
  }

  result(): string {
    this.#break(false)
    return this.#lines.join('\n').trim().toWellFormed()
  }

  #block(name: string): void {
    this.#break(false)
    const last = this.#lines.at(-1)
    if (PARAGRAPHS.has(name) && last !== undefined && last !== '') this.#lines.push('')
  }

  #break(isForced: boolean): void {
    const line = this.#line.trimEnd()
    if (line !== '' || (isForced && this.#lines.at(-1) !== '')) this.#lines.push(line)
    this.#line = ''
  }
}

import { Parser } from 'htmlparser2'

const SILENT = new Set(['script', 'style', 'head', 'title', 'template', 'noscript', 'svg'])
const INLINE = new Set(['a', 'b', 'i', 'u', 'em', 'strong', 'span', 'font', 'small', 'sub', 'sup'])

/** What a reader sees of HTML, without its looks; words of different blocks stay apart. */
export function htmlText(html: string): string {
  let text = ''
  let silent = 0
  const parser = new Parser({
    onopentagname(name) {
      if (SILENT.has(name)) silent++
      if (!INLINE.has(name)) text += ' '
    },
    onclosetag(name) {
      if (SILENT.has(name)) silent--
      if (!INLINE.has(name)) text += ' '
    },
    ontext(part) {
      if (silent === 0) text += part
    },
  })
  parser.end(html)
  return text
}

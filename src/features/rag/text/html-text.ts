import { Parser } from 'htmlparser2'

const HIDDEN = new Set(['script', 'style', 'head', 'title', 'template', 'noscript', 'svg'])
const INLINE = new Set(['a', 'b', 'i', 'u', 'em', 'strong', 'span', 'font', 'small', 'sub', 'sup'])

/** The visible text of HTML. Block elements separate words. */
export function htmlText(html: string): string {
  let text = ''
  let hiddenDepth = 0
  const parser = new Parser({
    onopentagname(name) {
      if (HIDDEN.has(name)) hiddenDepth++
      if (!INLINE.has(name)) text += ' '
    },
    onclosetag(name) {
      if (HIDDEN.has(name)) hiddenDepth--
      if (!INLINE.has(name)) text += ' '
    },
    ontext(part) {
      if (hiddenDepth === 0) text += part
    },
  })
  parser.end(html)
  return text
}

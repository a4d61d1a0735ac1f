import { scanHtml } from './html.ts'

export type Position = 'start' | 'end'

/** Puts text above or below a plain text, with an empty line between. */
export function placeInText(body: string, added: string, position: Position): string {
  if (body === '') return `${added}\r\n`
  if (position === 'start') return `${added}\r\n\r\n${body}`
  const end = body.endsWith('\r\n') ? '' : '\r\n'
  return `${body}${end}\r\n${added}\r\n`
}

/** Puts HTML at the start or end of the body element. Tags in comments and scripts are skipped. */
export function placeInHtml(html: string, added: string, position: Position): string {
  const at = position === 'start' ? startOfBody(html) : endOfBody(html)
  return `${html.slice(0, at)}${added}${html.slice(at)}`
}

function startOfBody(html: string): number {
  let after = 0
  let found = false
  let hasHead = false
  scanHtml(html, {
    openTag(name, end) {
      if (name === 'head') hasHead = true
      if (found) return
      if (name === 'body') found = true
      if (name === 'body' || name === 'html') after = end
    },
    closeTag(name, _start, end) {
      if (name !== 'head' || !hasHead) return
      hasHead = false
      if (!found) after = end
    },
  })
  return after
}

/** An end tag without its start tag does not count. */
function endOfBody(html: string): number {
  const opened = new Set<string>()
  let body: number | undefined
  let root: number | undefined
  scanHtml(html, {
    openTag: (name) => opened.add(name),
    closeTag(name, start) {
      if (!opened.delete(name)) return
      if (name === 'body') body = start
      if (name !== 'html') return
      root = start
      opened.clear()
    },
  })
  return body ?? root ?? html.length
}

import { Parser } from 'htmlparser2'

export type Place = 'start' | 'end'

/** Text above or below, with an empty line between. */
export function placeInText(body: string, added: string, position: Place): string {
  if (body === '') return `${added}\r\n`
  if (position === 'start') return `${added}\r\n\r\n${body}`
  const end = body.endsWith('\r\n') ? '' : '\r\n'
  return `${body}${end}\r\n${added}\r\n`
}

/** Inside of the body element, where there is one; comments and scripts that name one are none. */
export function placeInHtml(html: string, added: string, position: Place): string {
  const at = position === 'start' ? startOfBody(html) : endOfBody(html)
  return `${html.slice(0, at)}${added}${html.slice(at)}`
}

function startOfBody(html: string): number {
  let after = 0
  let found = false
  const parser = new Parser({
    onopentag(name) {
      if (found) return
      if (name === 'body') found = true
      if (name === 'body' || name === 'html') after = parser.endIndex + 1
    },
    onclosetag(name, implied) {
      if (!found && name === 'head' && !implied) after = parser.endIndex + 1
    },
  })
  parser.end(html)
  return after
}

function endOfBody(html: string): number {
  let body: number | undefined
  let root: number | undefined
  const parser = new Parser({
    onclosetag(name, implied) {
      if (implied) return
      if (name === 'body') body = parser.startIndex
      if (name === 'html') root = parser.startIndex
    },
  })
  parser.end(html)
  return body ?? root ?? html.length
}

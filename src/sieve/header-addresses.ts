/** The bare addresses of a header such as From: `"Doe, Jane" <jane@acme.example>, joe@acme.example`. */
export function addressesIn(header: string): string[] {
  return entries(header).flatMap((entry) => {
    const inBrackets = /<([^<>]*)>\s*$/.exec(entry)
    const address = (inBrackets?.[1] ?? entry).replace(/\s+/g, '')
    return address === '' ? [] : [address]
  })
}

/** Splits at commas and group ends outside of quotes, brackets and comments. */
function entries(header: string): string[] {
  const complete: string[] = []
  let entry = ''
  let quoted = false
  let bracketed = false
  let depth = 0
  for (let at = 0; at < header.length; at++) {
    const character = header[at] as string
    if (character === '\\' && (quoted || depth > 0)) {
      if (depth === 0) entry += header.slice(at, at + 2)
      at++
    } else if (quoted) {
      quoted = character !== '"'
      entry += character
    } else if (character === '(') depth++
    else if (character === ')' && depth > 0) depth--
    else if (depth > 0) continue
    else if (character === ':' && !bracketed) entry = ''
    else if ((character === ',' || character === ';') && !bracketed) {
      complete.push(entry)
      entry = ''
    } else {
      if (character === '"') quoted = true
      if (character === '<') bracketed = true
      if (character === '>') bracketed = false
      entry += character
    }
  }
  return [...complete, entry].filter((one) => one.trim() !== '')
}

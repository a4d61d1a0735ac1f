import { Parser } from 'htmlparser2'

const LINKS = new Set(['href', 'src', 'action', 'formaction', 'background'])
/** Before a variable: it cannot decide the scheme or the host any more. */
const FIXED_START = /^\s*(https?:\/\/[^/?#{}]+[/?#]|mailto:|tel:|[#/?])/i
const OUTPUT = /\{\{-?([\s\S]*?)-?\}\}/g
const MAX_WARNINGS = 20

/** Links that a variable decides without the filter `url`: its value may be `javascript:`. */
export function linkWarnings(html: string): string[] {
  const warnings = new Set<string>()
  const parser = new Parser({
    onattribute(name, value) {
      if (!LINKS.has(name) || warnings.size >= MAX_WARNINGS) return
      if (FIXED_START.test(value)) return
      for (const [output, expression = ''] of value.matchAll(OUTPUT)) {
        if (/\|\s*url\s*(\||$)/.test(expression.trim())) continue
        warnings.add(`${name}="${output.slice(0, 100)}" has no filter url: write {{ … | url }}`)
      }
    },
  })
  parser.write(html)
  parser.end()
  return [...warnings]
}

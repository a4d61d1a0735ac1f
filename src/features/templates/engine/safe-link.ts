import { TemplateProblem } from './template-problem.ts'

const SCHEMES = new Set(['http:', 'https:', 'mailto:', 'tel:'])
const MAX_SHOWN = 60

/**
 * The filter `url` for links from variables: passes a web, mail or phone address unchanged. Everything
 * else, such as `javascript:`, is refused, also with the characters that browsers ignore.
 */
export function safeLink(value: unknown): string {
  if (value === null || value === undefined || value === '') return ''
  const text = String(value)
  const isPlain = !/[\p{Cc}\s]/u.test(text)
  if (isPlain && URL.canParse(text) && SCHEMES.has(new URL(text).protocol)) return text
  throw new TemplateProblem(
    'link',
    `Not a link to a web, mail or phone address: ${JSON.stringify(text.slice(0, MAX_SHOWN))}`,
  )
}

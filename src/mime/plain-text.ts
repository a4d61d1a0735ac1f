import { compile } from 'html-to-text'

const LIMITS = {
  maxInputLength: 2 * 1024 * 1024,
  maxDepth: 200,
  maxChildNodes: 20_000,
  maxBaseElements: 1,
  ellipsis: '…',
}

// Capitals would change the names of variables.
const quiet = { uppercase: false }

const convert = compile({
  wordwrap: false,
  limits: LIMITS,
  selectors: [
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: quiet })),
    { selector: 'img', format: 'skip' },
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
  ],
})

/** Plain text of an HTML page; Liquid tags stay. Takes long for a hostile page. */
export const plainTextOf = (html: string): string => `${convert(html).trim()}\n`

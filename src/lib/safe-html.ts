import sanitizeHtml from 'sanitize-html'
import { isOwnPath, safeDeclarations } from './safe-css.ts'

// Dropped with their content: code, foreign markup, or text that browsers parse in another mode.
const DROPPED =
  `applet audio base canvas embed frame frameset head iframe link math meta noembed noframes noscript
  object option param plaintext portal script select style svg template textarea title video xmp`.split(
    /\s+/,
  )
const KEPT =
  `a abbr address article aside b blockquote br button caption center code dd div dl dt em fieldset
  figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr i img input label legend li main nav ol p
  pre s section small span strong sub sup table tbody td tfoot th thead tr u ul`.split(/\s+/)
const ATTRIBUTES: Record<string, string[]> = {
  '*': ['align', 'class', 'dir', 'id', 'lang', 'role', 'style', 'title'],
  a: ['href', 'target', 'rel'],
  button: ['type', 'disabled'],
  form: ['action', 'method'],
  img: ['src', 'alt', 'width', 'height'],
  input: `type name value placeholder required autocomplete checked disabled maxlength`.split(' '),
  label: ['for'],
  td: ['colspan', 'rowspan'],
  th: ['colspan', 'rowspan', 'scope'],
}
const INPUT_TYPES = new Set('text email password checkbox hidden submit'.split(' '))
const MAX_DEPTH = 100

/** Keeps markup that runs no code and sends nothing to another site. */
export const safeHtml = (html: string): string =>
  sanitizeHtml(html.replaceAll('\0', ''), {
    allowedTags: KEPT,
    nonTextTags: DROPPED,
    allowedAttributes: ATTRIBUTES,
    // Images alone may have the scheme `data`; `isSafeValue` limits it further.
    allowedSchemes: ['http', 'https', 'mailto', 'tel'],
    allowedSchemesByTag: { img: ['https', 'data'] },
    allowedSchemesAppliedToAttributes: ['href', 'src', 'action'],
    selfClosing: ['br', 'hr', 'img', 'input'],
    nestingLimit: MAX_DEPTH,
    // Style attributes go through `safeDeclarations`, as style sheets go through `safeCss`.
    parseStyleAttributes: false,
    transformTags: { '*': withSafeAttributes },
  })
    // HTML instead of XHTML. Text and attribute values contain no unescaped `>`.
    .replaceAll(' />', '>')

export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`)

function withSafeAttributes(tagName: string, all: Record<string, string>) {
  const attribs: Record<string, string> = {}
  for (const [name, sent] of Object.entries(all)) {
    const value = name === 'style' ? safeDeclarations(sent) : sent
    const isEmptyStyle = name === 'style' && value === ''
    if (!isEmptyStyle && isSafeValue(tagName, name, value)) attribs[name] = value
  }
  // The opened page gets no reference to this one.
  if (tagName === 'a') attribs.rel = 'noopener noreferrer nofollow'
  return { tagName, attribs }
}

function isSafeValue(element: string, name: string, value: string): boolean {
  switch (name) {
    case 'href':
      return isSafeLink(value, ['http', 'https', 'mailto', 'tel'])
    case 'src':
      return isEmbeddedImage(value) || isSafeLink(value, ['https'])
    case 'action':
      return isOwnPath(value)
    case 'method':
      return /^(get|post)$/i.test(value)
    case 'target':
      return value === '_blank'
    case 'type':
      return element !== 'input' || INPUT_TYPES.has(value)
    default:
      return true
  }
}

function isSafeLink(text: string, schemes: readonly string[]): boolean {
  // Browsers skip control characters and blanks inside a URL.
  const url = text.replace(/[\0-\x20\x7f-\xa0\u2028\u2029]/g, '')
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase()
  if (scheme !== undefined) return schemes.includes(scheme)
  // A colon before the first slash could still be read as a scheme.
  return !/^[^/?#]*:/.test(url)
}

const isEmbeddedImage = (url: string) =>
  /^data:image\/(png|jpe?g|gif|webp);base64,[a-z0-9+/=]*$/i.test(url)

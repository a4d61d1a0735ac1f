import { Parser } from 'htmlparser2'
import { safeDeclarations } from './safe-css.ts'

// With what is in them: it is code, markup of another kind, or text that browsers read differently.
const DROPPED = new Set(
  `applet audio base canvas embed frame frameset head iframe link math meta noembed noframes noscript
  object option param plaintext portal script select style svg template textarea title video xmp`.split(
    /\s+/,
  ),
)
const KEPT = new Set(
  `a abbr address article aside b blockquote br button caption center code dd div dl dt em fieldset
  figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr i img input label legend li main nav ol p
  pre s section small span strong sub sup table tbody td tfoot th thead tr u ul`.split(/\s+/),
)
const VOID = new Set(['br', 'hr', 'img', 'input'])
const EVERYWHERE = new Set('align class dir id lang role style title'.split(' '))
const ATTRIBUTES: Record<string, Set<string>> = {
  a: new Set(['href', 'target']),
  button: new Set(['type', 'disabled']),
  form: new Set(['action', 'method']),
  img: new Set(['src', 'alt', 'width', 'height']),
  input: new Set(
    `type name value placeholder required autocomplete checked disabled maxlength`.split(' '),
  ),
  label: new Set(['for']),
  td: new Set(['colspan', 'rowspan']),
  th: new Set(['colspan', 'rowspan', 'scope']),
}
const INPUT_TYPES = new Set('text email password checkbox hidden submit'.split(' '))
const MAX_DEPTH = 100

export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`)

/**
 * Markup that runs nothing and sends nothing elsewhere: the named elements and attributes and no
 * others, written anew from what was read, so that nothing of the original spelling is left.
 */
export function safeHtml(html: string): string {
  let out = ''
  let droppedDepth = 0
  const open: (string | undefined)[] = []
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        const isKept = droppedDepth === 0 && KEPT.has(name) && open.length < MAX_DEPTH
        if (droppedDepth > 0 || DROPPED.has(name)) droppedDepth++
        open.push(isKept ? name : undefined)
        if (isKept) out += `<${name}${attributesOf(name, attributes)}>`
      },
      ontext(text) {
        if (droppedDepth === 0) out += escapeHtml(text)
      },
      onclosetag() {
        const name = open.pop()
        if (droppedDepth > 0) droppedDepth--
        else if (name && !VOID.has(name)) out += `</${name}>`
      },
    },
    { decodeEntities: true, lowerCaseTags: true, lowerCaseAttributeNames: true },
  )
  parser.end(html.replaceAll('\0', ''))
  return out
}

function attributesOf(element: string, attributes: Record<string, string>): string {
  let out = ''
  for (const [name, value] of Object.entries(attributes)) {
    if (!EVERYWHERE.has(name) && !ATTRIBUTES[element]?.has(name)) continue
    const safe = safeValue(element, name, value)
    if (safe !== undefined) out += ` ${name}="${escapeHtml(safe)}"`
  }
  // What is opened from here gets no hold of this page.
  return element === 'a' ? `${out} rel="noopener noreferrer nofollow"` : out
}

function safeValue(element: string, name: string, value: string): string | undefined {
  if (name === 'style') return safeDeclarations(value) || undefined
  if (name === 'href')
    return isSafeLink(value, ['http', 'https', 'mailto', 'tel']) ? value : undefined
  if (name === 'src') return isImage(value) || isSafeLink(value, ['https']) ? value : undefined
  if (name === 'action') return isOwnPath(value) ? value : undefined
  if (name === 'method') return /^(get|post)$/i.test(value) ? value : undefined
  if (name === 'target') return value === '_blank' ? value : undefined
  if (element === 'input' && name === 'type') return INPUT_TYPES.has(value) ? value : undefined
  return value
}

/** As browsers read an address: they skip control characters and blanks, and take \ for /. */
const asRead = (url: string) => url.replace(/[\0-\x20\x7f-\xa0\u2028\u2029]/g, '')

function isSafeLink(url: string, schemes: readonly string[]): boolean {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(asRead(url))?.[1]?.toLowerCase()
  if (scheme !== undefined) return schemes.includes(scheme)
  // Without a scheme, what stands before the first colon must be a path already.
  return !/^[^/?#]*:/.test(asRead(url))
}

const isImage = (url: string) => /^data:image\/(png|jpe?g|gif|webp);base64,[a-z0-9+/=]*$/i.test(url)

/** A path of this site, and not `//elsewhere`. */
export const isOwnPath = (url: string): boolean => /^\/(?![/\\])[^\\\0-\x20\x7f-\xa0]*$/.test(url)

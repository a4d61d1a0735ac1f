import sanitizeHtml from 'sanitize-html'
import { safeCss, safeDeclarations } from '../../../lib/safe-css.ts'
import { scanHtml } from '../../../mime/html.ts'

// Dropped with their content: code, foreign markup, fields, or text that browsers parse in another mode.
const DROPPED =
  `applet audio base button canvas embed form frame frameset head iframe input link math meta noembed
  noframes noscript object option param plaintext portal script select style svg template textarea
  title video xmp`.split(/\s+/)
const KEPT =
  `a abbr address article aside b big blockquote body br caption center cite code col colgroup dd del
  details dfn div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd li
  main mark nav ol p pre q s samp section small span strike strong sub summary sup table tbody td
  tfoot th thead time tr tt u ul var wbr`.split(/\s+/)
const ATTRIBUTES: Record<string, string[]> = {
  '*': `align bgcolor border cellpadding cellspacing class color colspan dir face height id lang role
    rowspan scope size span start style title type valign width`.split(/\s+/),
  a: ['href', 'target', 'rel'],
  img: ['src', 'alt'],
}
const LINK = /^(https?:\/\/|mailto:|tel:)/i
const REMOTE = /^(https?:)?\/\//i
const EMBEDDED = /^data:image\/(png|jpe?g|gif|webp);base64,[a-z0-9+/=\s]*$/i
const MAX_DEPTH = 100
const MAX_OPEN = 2000
const MAX_STYLE = 256 * 1024
// Elements that have no end, or may leave it out.
const ENDLESS = new Set(
  'area base br col dd dt hr img input li link meta option p param source td th tr wbr'.split(' '),
)

interface Options {
  /** Pictures of the message as data URLs, by content id. */
  pictures: ReadonlyMap<string, string>
  /** True if pictures of other hosts are loaded. */
  withRemote: boolean
}

export interface ShownHtml {
  body: string
  style: string
  /** Pictures of other hosts in the message, loaded or not. */
  remotePictures: number
}

/**
 * Keeps the markup and the plain style of a message. The result runs no code, has no fields, and
 * loads nothing from elsewhere except pictures, and these only when asked to.
 */
export function shownHtml(html: string, { pictures, withRemote }: Options): ShownHtml {
  let remotePictures = 0
  // Messages repeat the same style in every cell of a table.
  const known = new Map<string, string>()

  function declarationsOf(style: string): string {
    const found = known.get(style) ?? safeDeclarations(style)
    known.set(style, found)
    return found
  }

  function sourceOf(src: string): string | undefined {
    const url = plainUrl(src)
    if (/^cid:/i.test(url)) return pictures.get(contentId(url.slice(4)))
    if (EMBEDDED.test(url)) return url
    if (!REMOTE.test(url)) return undefined
    remotePictures++
    return withRemote ? url.replace(/^\/\//, 'https://') : undefined
  }

  const body = sanitizeHtml(html.replaceAll('\0', ''), {
    allowedTags: KEPT,
    nonTextTags: DROPPED,
    allowedAttributes: ATTRIBUTES,
    // The values are checked below; relative ones would belong to this host.
    allowedSchemes: ['http', 'https', 'mailto', 'tel'],
    allowedSchemesByTag: { img: ['http', 'https', 'data'] },
    allowProtocolRelative: false,
    selfClosing: ['br', 'col', 'hr', 'img', 'wbr'],
    nestingLimit: MAX_DEPTH,
    parseStyleAttributes: false,
    transformTags: {
      '*': (tagName, all) => {
        const { style, href, src, target: _target, rel: _rel, ...attribs } = all
        const declarations = style === undefined ? '' : declarationsOf(style)
        if (declarations) attribs.style = declarations
        if (tagName === 'a' && href !== undefined && LINK.test(plainUrl(href))) {
          attribs.href = plainUrl(href)
          attribs.target = '_blank'
          attribs.rel = 'noopener noreferrer nofollow'
        }
        const source = tagName === 'img' && src !== undefined ? sourceOf(src) : undefined
        if (source) attribs.src = source
        return { tagName: tagName === 'body' ? 'div' : tagName, attribs }
      },
    },
  }).replaceAll(' />', '>')
  return { body, style: safeCss(styleSheets(html)), remotePictures }
}

/** Returns whether elements are nested more deeply than any program writes them. */
export function isTooDeep(html: string): boolean {
  let open = 0
  let most = 0
  scanHtml(html, {
    openTag: (name) => {
      if (!ENDLESS.has(name)) most = Math.max(most, ++open)
    },
    closeTag: (name) => {
      if (!ENDLESS.has(name)) open = Math.max(0, open - 1)
    },
  })
  return most > MAX_OPEN
}

/** Browsers skip control characters and blanks at these places of a URL. */
const plainUrl = (text: string) => text.replace(/[\0-\x1f\x7f-\x9f\u2028\u2029]/g, '').trim()

/** Content ids in URLs are percent-encoded (RFC 2392). */
export function contentId(text: string): string {
  try {
    return decodeURIComponent(text).toLowerCase()
  } catch {
    return text.toLowerCase()
  }
}

function styleSheets(html: string): string {
  let css = ''
  let isStyle = false
  scanHtml(html, {
    openTag: (name) => {
      isStyle = name === 'style'
    },
    closeTag: () => {
      isStyle = false
    },
    text: (text) => {
      if (isStyle && css.length < MAX_STYLE) css += text
    },
  })
  // Old programs hide style sheets in comments.
  return css.replace(/<!--|-->/g, ' ')
}

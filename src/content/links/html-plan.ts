import { isUtf8 } from 'node:buffer'
import { replaced, type TextEdit } from '../../mime/edits.ts'
import { type LinkRules, readHtml } from './html.ts'

const MAX_URL = 4096
/** Links with a position of their own. */
const MAX_LINKS = 5000

export interface Wishes {
  opens: boolean
  clicks: boolean
  /** Returns whether a link stays unchanged. */
  leaves(url: URL): boolean
}

/** The tracking URLs of one recipient. */
export interface Copy {
  pixelUrl: string
  linkUrl(position: number, target: string): string
  unsubscribeUrl: string
}

export interface Slot {
  start: number
  end: number
  /** The position of a link, or the pixel. */
  what: number | 'pixel'
  isQuoted: boolean
}

/** Finds the places to change in the HTML of one message. Each link target has one position. */
export function htmlPlanner(wishes: Wishes) {
  const links: string[] = []
  const positions = new Map<string, number>()

  function positionOf(url: string): number | undefined {
    const position = positions.get(url)
    if (position !== undefined || links.length >= MAX_LINKS) return position
    positions.set(url, links.length)
    return links.push(url) - 1
  }

  function editOf({ start, end, what, isQuoted }: Slot, copy: Copy): TextEdit {
    if (what === 'pixel') return { start, end, text: pixelOf(copy.pixelUrl), ownLine: true }
    const url = escaped(copy.linkUrl(what, links[what] as string))
    return { start, end, text: isQuoted ? url : `"${url}"` }
  }

  return {
    /** Distinct link targets. */
    links,
    slotsOf(text: string, isUtf8Text: boolean): Slot[] {
      const html = readHtml(text, trackedLinks(isUtf8Text))
      if (!html) return []
      const slots: Slot[] = []
      for (const { start, end, isQuoted, target } of wishes.clicks ? html.links : []) {
        const what = wishes.leaves(target) ? undefined : positionOf(target.href)
        if (what !== undefined) slots.push({ start, end, isQuoted, what })
      }
      if (wishes.opens) {
        slots.push({ start: html.pixelAt, end: html.pixelAt, isQuoted: true, what: 'pixel' })
      }
      return slots.sort((one, other) => one.start - other.start)
    },
    editsOf: (slots: Slot[], copy: Copy): TextEdit[] => slots.map((slot) => editOf(slot, copy)),
  }
}

const trackedLinks = (isUtf8Text: boolean): LinkRules<URL> => ({
  maxLinks: 20_000,
  isLink: (tag, attribute) => (tag === 'a' || tag === 'area') && attribute === 'href',
  decode: (bytes) => (isUtf8Text && isUtf8(bytes) ? bytes.toString('utf8') : undefined),
  read: webUrl,
})

/** Only http and https. A URL with a password must not be stored. */
function webUrl(value: string): URL | undefined {
  const text = value.trim()
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  return url.username === '' && url.password === '' && url.href.length <= MAX_URL ? url : undefined
}

/** Plans an HTML page that is not in a message yet. */
export function planPage(html: string, wishes: Wishes) {
  const planner = htmlPlanner(wishes)
  const text = Buffer.from(html, 'utf8').toString('latin1')
  const slots = planner.slotsOf(text, true)
  return {
    links: planner.links,
    linksRewritten: slots.filter(({ what }) => what !== 'pixel').length,
    write: (copy: Copy): string =>
      Buffer.from(replaced(text, planner.editsOf(slots, copy)), 'latin1').toString('utf8'),
  }
}

const pixelOf = (url: string): string =>
  `<img src="${escaped(url)}" alt="" width="1" height="1" border="0">`

const escaped = (url: string): string => url.replaceAll('&', '&amp;').replaceAll('"', '%22')

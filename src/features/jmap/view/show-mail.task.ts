import { escapeHtml } from '../../../lib/safe-html.ts'
import { bufferOf } from '../../../lib/shared-bytes.ts'
import { bodyLists } from '../mime/body-lists.ts'
import { leavesOf, type MailPart, readTree, textOfPart } from '../mime/part-tree.ts'
import { contentId, isTooDeep, shownHtml } from './mail-html.ts'
import { mailPage } from './mail-page.ts'
import { textOfHtml } from './mail-text.ts'

const MAX_HTML = 2 * 1024 * 1024
const MAX_PICTURES = 10 * 1024 * 1024
const PICTURE = /^image\/(png|jpeg|gif|webp)$/

interface Input {
  raw: Uint8Array
  withRemote: boolean
}

/** Takes a message apart in a worker thread and makes the page and the text of its HTML. */
export default async function showMail({ raw, withRemote }: Input) {
  const root = await readTree(bufferOf(raw))
  const { htmlBody } = bodyLists(root)
  const html = await htmlOf(htmlBody as MailPart[])
  const text = textOfHtml(html)
  const pictures = await picturesOf(leavesOf(root))
  // The sanitizer needs quadratic time for nested elements.
  const bounded = isTooDeep(html) ? `<pre>${escapeHtml(text)}</pre>` : html
  const shown = shownHtml(bounded, { pictures, withRemote })
  return { page: mailPage(shown), text, remotePictures: shown.remotePictures }
}

/** Parts that are plain text belong to the message as well. */
async function htmlOf(parts: readonly MailPart[]): Promise<string> {
  let html = ''
  for (const part of parts) {
    if (!part.type.startsWith('text/') || html.length > MAX_HTML) continue
    const { value } = await textOfPart(part)
    html += part.type === 'text/html' ? value : `<pre>${escapeHtml(value)}</pre>`
  }
  return html.slice(0, MAX_HTML)
}

async function picturesOf(leaves: readonly MailPart[]): Promise<Map<string, string>> {
  const pictures = new Map<string, string>()
  let room = MAX_PICTURES
  for (const part of leaves) {
    if (!part.cid || !PICTURE.test(part.type) || part.size > room) continue
    room -= part.size
    const data = (await part.body()).toString('base64')
    pictures.set(contentId(part.cid), `data:${part.type};base64,${data}`)
  }
  return pictures
}

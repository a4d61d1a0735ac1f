import { planInjection } from '../../../content/links/inject.ts'
import { bufferOf, shared } from '../../../lib/shared-bytes.ts'
import { MimeMessage } from '../../../mime/message.ts'
import { type KeptLinks, leavesLinks } from './tracking-urls.ts'

/** The tracking URLs of one recipient, with the URL of each link by its position. */
export interface CopyUrls {
  pixelUrl: string
  linkUrls: string[]
  unsubscribeUrl: string
}

interface Input {
  raw: Uint8Array
  kept: KeptLinks
  headers: Record<string, string>
  copies: CopyUrls[]
}

/** Writes the copies of a message. Runs in a worker thread. */
export default ({ raw, kept, headers, copies }: Input): Uint8Array[] => {
  const wishes = { opens: true, clicks: true, leaves: leavesLinks(kept) }
  const plan = planInjection(new MimeMessage(bufferOf(raw)), wishes)
  if (!plan) throw new Error('the message cannot be tracked')
  return copies.map(({ linkUrls, pixelUrl, unsubscribeUrl }) => {
    const linkUrl = (position: number) => linkUrls[position] as string
    return shared(plan.write(headers, { pixelUrl, unsubscribeUrl, linkUrl }).raw)
  })
}

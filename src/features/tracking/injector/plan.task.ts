import { planInjection } from '../../../content/links/inject.ts'
import { bufferOf } from '../../../lib/shared-bytes.ts'
import { MimeMessage } from '../../../mime/message.ts'
import { type KeptLinks, leavesLinks } from './tracking-urls.ts'

/** Finds the links of a message; undefined if it must pass unchanged. Runs in a worker thread. */
export default ({ raw, kept }: { raw: Uint8Array; kept: KeptLinks }) => {
  const wishes = { opens: true, clicks: true, leaves: leavesLinks(kept) }
  const plan = planInjection(new MimeMessage(bufferOf(raw)), wishes)
  return plan && { links: plan.links, isTrackable: plan.isTrackable }
}

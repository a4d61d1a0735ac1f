import { planPage } from '../../../content/links/html-plan.ts'
import { type KeptLinks, leavesLinks } from './tracking-urls.ts'
import type { CopyUrls } from './write.task.ts'

interface Input {
  html: string
  opens: boolean
  clicks: boolean
  kept: KeptLinks
  /** Without URLs the links are found and nothing is written. */
  urls?: CopyUrls
}

/** Finds the links of an HTML page and writes the page with other URLs. Runs in a worker thread. */
export default ({ html, opens, clicks, kept, urls }: Input) => {
  const { links, linksRewritten, write } = planPage(html, {
    opens,
    clicks,
    leaves: leavesLinks(kept),
  })
  const linkUrl = (position: number) => urls?.linkUrls[position] as string
  return { links, linksRewritten, written: urls ? write({ ...urls, linkUrl }) : '' }
}

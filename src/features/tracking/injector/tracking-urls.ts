import { type Config, publicUrl } from '../../../config/index.ts'
import type { Copy } from '../../../content/links/html-plan.ts'
import type { Vault } from '../../../lib/vault.ts'
import { trackingIds } from '../tracking-ids.ts'

/** The URLs in tracked mail, and the links that are never replaced by one. */
export function trackingUrls(config: Config, vault: Pick<Vault, 'fingerprint'>) {
  const ids = trackingIds(vault)
  const base = `${publicUrl(config)}/api/v1/tracking`
  const excluded = config.TRACKING_EXCLUDE_DOMAINS.map((name) => name.toLowerCase())

  return {
    mint: ids.mint,
    copyOf: (id: string): Copy => ({
      pixelUrl: `${base}/pixel/${id}`,
      linkUrl: (position, target) => `${base}/click/${ids.link(id, position)}${campaignOf(target)}`,
      unsubscribeUrl: `${base}/unsubscribe/${id}`,
    }),
    leaves: leavesLinks({ base, excluded }),
    /** The rule for links that stay unchanged, in a form for worker threads. */
    kept: { base, excluded },
  }
}

export interface KeptLinks {
  base: string
  excluded: string[]
}

/** Links of this service and of excluded domains stay as they are. */
export const leavesLinks =
  ({ base, excluded }: KeptLinks) =>
  ({ href, hostname }: URL): boolean =>
    href.startsWith(`${base}/`) ||
    excluded.some((name) => hostname === name || hostname.endsWith(`.${name}`))

/** `utm_` parameters stay readable for programs that look at links on their way. */
function campaignOf(target: string): string {
  const campaign = new URLSearchParams(
    [...new URL(target).searchParams].filter(([name]) => name.startsWith('utm_')),
  )
  return campaign.size === 0 ? '' : `?${campaign}`
}

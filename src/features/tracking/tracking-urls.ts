import { type Config, publicUrl } from '../../config.ts'
import type { Vault } from '../../lib/vault.ts'
import type { Copy } from './injector/html-plan.ts'
import { trackingIds } from './tracking-ids.ts'

/** The addresses that stand in tracked mail, and those that never give way to one. */
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
    leaves: ({ href, hostname }: URL): boolean =>
      href.startsWith(`${base}/`) ||
      excluded.some((name) => hostname === name || hostname.endsWith(`.${name}`)),
  }
}

/** `utm_` parameters stay readable for programs that look at links on their way. */
function campaignOf(target: string): string {
  const campaign = new URLSearchParams(
    [...new URL(target).searchParams].filter(([name]) => name.startsWith('utm_')),
  )
  return campaign.size === 0 ? '' : `?${campaign}`
}

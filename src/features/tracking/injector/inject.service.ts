import type { Static } from 'typebox'
import type { Core } from '../../../core.ts'
import { findDomain } from '../../../hosting/tenants.repository.ts'
import { breather } from '../../../lib/breather.ts'
import { ulid } from '../../../lib/ulid.ts'
import { taskIn } from '../../../lib/worker-pool.ts'
import { DomainNotFound } from '../../domains/domains.errors.ts'
import type { InjectRequest } from '../internal.schemas.ts'
import * as tracked from '../tracked.repository.ts'
import { NoPublicUrl } from '../tracking.errors.ts'
import { trackingUrls } from './tracking-urls.ts'

const TIME_LIMIT_MS = 10_000

const pageTask = taskIn<typeof import('./page.task.ts')>('features/tracking/injector/page')

type Needs = Pick<Core, 'config' | 'db' | 'now' | 'vault' | 'workers'>

export type InjectService = ReturnType<typeof injectService>

/** For services that make a page and send it themselves. */
export function injectService({ config, db, now, vault, workers }: Needs) {
  const urls = trackingUrls(config, vault)
  return {
    async inject(sent: Static<typeof InjectRequest>) {
      if (config.SVC_PUBLIC_URL === undefined) throw new NoPublicUrl()
      const { email_id, tenant_id, domain_id } = sent
      const opens = sent.enable_open_tracking ?? true
      const clicks = sent.enable_click_tracking ?? true
      const found = await findDomain(db, tenant_id, { id: domain_id })
      if (!found) throw new DomainNotFound()
      const limits = { owner: tenant_id, timeLimitMs: TIME_LIMIT_MS }
      const page = { html: sent.html_content, opens, clicks, kept: urls.kept }
      const { links } = await workers.run(pageTask, page, limits)
      const id = urls.mint()
      const copy = urls.copyOf(id)
      const breathe = breather()
      const linkUrls: string[] = []
      for (const [position, target] of links.entries()) {
        linkUrls.push(copy.linkUrl(position, target))
        await breathe()
      }
      const { pixelUrl, unsubscribeUrl } = copy
      const input = { ...page, urls: { pixelUrl, unsubscribeUrl, linkUrls } }
      const plan = await workers.run(pageTask, input, limits)
      const timestamp = now().toISOString()
      await tracked.insertTracked(db, {
        id: ulid(now().getTime()),
        organization_id: tenant_id,
        domain_id,
        domain: found.domain,
        email_id: email_id.replace(/^<|>$/g, ''),
        links,
        copies: [{ id, recipient: sent.recipient.toLowerCase() }],
        sent_at: null,
        created_at: timestamp,
      })
      return {
        success: true,
        modified_content: plan.written,
        tracking_injected: {
          open_tracking: opens,
          click_tracking: clicks,
          links_rewritten: plan.linksRewritten,
        },
        tracking_urls: {
          open: pixelUrl,
          clicks: links.map((url, position) => ({ url, tracked: linkUrls[position] })),
        },
        tracking_id: id,
        unsubscribe_url: unsubscribeUrl,
        email_id,
        tenant_id,
        domain_id,
        timestamp,
      }
    },
  }
}

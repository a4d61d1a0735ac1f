import type { Static } from 'typebox'
import type { Core } from '../../core.ts'
import { ulid } from '../../lib/ulid.ts'
import { DomainNotFound } from '../domains/domains.errors.ts'
import { planPage } from './injector/html-plan.ts'
import type { InjectRequest } from './internal.schemas.ts'
import * as tracked from './tracked.repository.ts'
import { trackingUrls } from './tracking-urls.ts'

type Needs = Pick<Core, 'config' | 'db' | 'now' | 'vault'>

export type InjectService = ReturnType<typeof injectService>

/** For services that make a page and send it themselves. */
export function injectService({ config, db, now, vault }: Needs) {
  const urls = trackingUrls(config, vault)
  return {
    async inject(sent: Static<typeof InjectRequest>) {
      const { email_id, tenant_id, domain_id } = sent
      const opens = sent.enable_open_tracking ?? true
      const clicks = sent.enable_click_tracking ?? true
      const found = await tracked.findDomain(db, tenant_id, { id: domain_id })
      if (!found) throw new DomainNotFound()
      const plan = planPage(sent.html_content, { opens, clicks, leaves: urls.leaves })
      const id = urls.mint()
      const copy = urls.copyOf(id)
      const timestamp = now().toISOString()
      await tracked.insertTracked(db, {
        id: ulid(now().getTime()),
        organization_id: tenant_id,
        domain_id,
        domain: found.domain,
        email_id: email_id.replace(/^<|>$/g, ''),
        links: plan.links,
        copies: [{ id, recipient: sent.recipient.toLowerCase() }],
        sent_at: null,
        created_at: timestamp,
      })
      return {
        success: true,
        modified_content: plan.write(copy),
        tracking_injected: {
          open_tracking: opens,
          click_tracking: clicks,
          links_rewritten: plan.linksRewritten,
        },
        tracking_urls: {
          open: copy.pixelUrl,
          clicks: plan.links.map((url, position) => ({
            url,
            tracked: copy.linkUrl(position, url),
          })),
        },
        tracking_id: id,
        unsubscribe_url: copy.unsubscribeUrl,
        email_id,
        tenant_id,
        domain_id,
        timestamp,
      }
    },
  }
}

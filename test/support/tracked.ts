import { insertTracked } from '../../src/features/tracking/tracked.repository.ts'
import { trackingIds } from '../../src/features/tracking/tracking-ids.ts'
import { ulid } from '../../src/lib/ulid.ts'
import type { App } from './app.ts'

interface Options {
  recipient?: string
  links?: string[]
  emailId?: string
  /** The time of the handover to the mail server; null when another program sent it. */
  sentAt?: Date | null
}

let count = 0

/** Stores a tracked message and returns the URLs in it. */
export async function trackedMessage(
  app: App,
  tenant: { organizationId: string; domainId: string; domain: string },
  { recipient, links = [], emailId, sentAt = null }: Options = {},
) {
  const ids = trackingIds(app.core.vault)
  const id = ids.mint()
  const address = recipient ?? `reader-${++count}@far.test`
  const email_id = emailId ?? `message-${ulid()}@${tenant.domain}`
  await insertTracked(app.core.db, {
    id: ulid(),
    organization_id: tenant.organizationId,
    domain_id: tenant.domainId,
    domain: tenant.domain,
    email_id,
    links,
    copies: [{ id, recipient: address }],
    sent_at: sentAt?.toISOString() ?? null,
    created_at: app.clock.now().toISOString(),
  })
  return {
    id,
    recipient: address,
    emailId: email_id,
    pixel: `/api/v1/tracking/pixel/${id}`,
    unsubscribe: `/api/v1/tracking/unsubscribe/${id}`,
    link: (position: number) => `/api/v1/tracking/click/${ids.link(id, position)}`,
  }
}

export const BROWSER =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:133.0) Gecko/20100101 Firefox/133.0'

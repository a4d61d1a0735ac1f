import type { App } from '../../support/app.ts'
import { HOSTILE } from './hostile.ts'

type Tenant = Awaited<ReturnType<App['tenant']>>

/** A delivery that failed, and the dead letter that it left. */
export async function seedWebhooks(app: App, tenant: Tenant, endpointId: string): Promise<void> {
  const event = {
    id: 'seed-event',
    event: 'email.bounced',
    source: 'mail',
    org_id: tenant.organizationId,
    domain: tenant.domain,
    data: { message_id: '<one@acme.test>', subject: HOSTILE[0] },
  }
  const { db } = app.core
  const url = 'https://hooks.shop.test/events'
  const shared = {
    event_id: event.id,
    event_type: event.event,
    endpoint_id: endpointId,
    organization_id: tenant.organizationId,
  }
  await db.insertInto('events').values(event).execute()
  await db
    .insertInto('webhook_deliveries')
    .values({
      ...shared,
      id: 'seed-delivery',
      webhook_url: url,
      delivery_status: 'failed',
      http_status_code: 500,
      attempts: 8,
      error_message: HOSTILE[1],
      created_at: app.clock.now().toISOString(),
    })
    .execute()
  await db
    .insertInto('webhook_dead_letters')
    .values({
      ...shared,
      endpoint_url: url,
      last_error: `Gave up after 8 attempts: ${HOSTILE[1]}`,
      attempt_count: 8,
      payload: { ...event, timestamp: app.clock.now().toISOString(), tags: [], metadata: {} },
    })
    .execute()
}

import type { App } from '../../support/app.ts'
import { deadLetters } from '../../support/dead-letters.ts'
import { HOSTILE } from './hostile.ts'

/** A brand, customers of a reseller, and webhooks that could not be delivered. */
export async function seedTenants(
  app: App,
  tenant: Awaited<ReturnType<App['tenant']>>,
): Promise<void> {
  const owner = await app.operator('owner')
  const { organizationId } = tenant
  const sent = async (answer: Promise<{ status: number; text: string }>) => {
    const { status, text } = await answer
    if (status >= 300) throw new Error(text)
  }
  await sent(
    owner.put(`/api/v1/whitelabel/config/${organizationId}`, {
      brand_name: 'Acme Mail',
      primary_color: '#c2185b',
      custom_domain: 'mail.acme.test',
      support_email: 'help@acme.test',
      footer_html: '<p>Acme Ltd.</p>',
    }),
  )
  const reseller = await app.tenant('reseller')
  const customer = (name: string, plan_name: string) =>
    owner.post('/api/v1/reseller/sub-organizations', {
      parent_org_id: reseller.organizationId,
      name,
      admin_email: 'jane@customer.test',
      max_users: 25,
      max_domains: 3,
      storage_limit: 1024 ** 3,
      plan_name,
    })
  await sent(customer('Bakery', 'starter'))
  await sent(customer(HOSTILE[0] as string, 'business'))
  const { bury } = deadLetters(() => app)
  await bury({ organization_id: organizationId })
  await bury({ status: 'resolved', last_error: HOSTILE[1] as string })
}

import type { App, Client } from '../../support/app.ts'
import { HOSTILE } from './hostile.ts'
import { seedAccess, seedGrant } from './seed-access.ts'
import { seedConsole } from './seed-console.ts'
import { seedDomain } from './seed-domain.ts'
import { seedFigures } from './seed-figures.ts'
import { seedOversight } from './seed-oversight.ts'
import { seedReputation } from './seed-reputation.ts'
import { seedRules } from './seed-rules.ts'
import { seedTenants } from './seed-tenants.ts'
import { seedWebhooks } from './seed-webhooks.ts'

/** Rows for the screens. `samples` has a value for each parameter of the route tables. */
export async function seed(app: App) {
  const tenant = await app.tenant('acme')
  for (const [index, name] of ['Jane Doe', 'Ada Borg', 'Grace Hopper', ...HOSTILE].entries()) {
    await create(tenant, '/api/v1/mailboxes/email-accounts', {
      email: `person-${index}@${tenant.domain}`,
      password: 'a-long-passphrase-1',
      name,
      storage_quota: 256 * 1024 ** 2,
    })
  }
  await create(tenant, '/api/v1/domains/', { domain: 'shop.test' })
  await create(tenant, '/api/v1/aliases/add', {
    source: `info@${tenant.domain}`,
    destination: `person-0@${tenant.domain},person-1@${tenant.domain},a@b.test,c@d.test`,
  })
  const credential = await create(tenant, '/api/v1/smtp-credentials/', {
    domain_id: tenant.domainId,
    name: HOSTILE[0],
  })
  const shared = await create(tenant, '/api/v1/shared-mailboxes', {
    email: `support@${tenant.domain}`,
    name: HOSTILE[1],
  })
  await create(tenant, `/api/v1/shared-mailboxes/${shared.id}/members`, {
    email_account_id: tenant.accountId,
    permission: 'send_as',
  })
  const template = await create(tenant, '/api/v1/templates/', {
    name: `Letter ${HOSTILE[0]}`,
    subject_template: HOSTILE[1],
    html_content: '<p>Hello {{ name }}</p>',
    variables: ['name'],
  })
  await seedHolder(app, tenant)
  const endpoint = await create(tenant, '/api/v1/webhooks/endpoints', {
    url: 'https://hooks.shop.test/events',
    name: HOSTILE[2],
    event_types: ['email.*'],
  })
  await create(tenant, '/api/v1/tracking/suppress', {
    email: 'gone@elsewhere.test',
    reason: HOSTILE[0],
  })
  await seedDomain(app, tenant)
  await seedWebhooks(app, tenant, endpoint.id)
  const ofConsole = await seedConsole(app, tenant)
  await seedTenants(app, tenant)
  const samples: Record<string, string> = {
    ...ofConsole,
    ...(await seedFigures(app, tenant)),
    message_id: ofConsole.msg_id as string,
    ...(await seedRules(tenant)),
    ...(await seedReputation(app, tenant)),
    domain_id: tenant.domainId,
    account_id: tenant.accountId,
    organization_id: tenant.organizationId,
    credential_id: credential.id,
    ...(await seedOversight(app, tenant)),
    mailbox_id: shared.id,
    endpoint_id: endpoint.id,
    template_id: template.id,
  }
  return { tenant, samples }
}

async function create(tenant: Client, path: string, body: object) {
  const answer = await tenant.post(path, body)
  if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`)
  return answer.body.data
}

/** The address of a screen with the parameters filled in. */
export const addressOf = (path: string, samples: Record<string, string>): string =>
  path.replace(/:(\w+)/g, (_, name: string) => {
    const value = samples[name]
    if (value === undefined) throw new Error(`test/web/support/seed.ts has no sample for ${name}`)
    return encodeURIComponent(value)
  })

/** The settings of the holder of the first mailbox. */
async function seedHolder(app: App, tenant: Awaited<ReturnType<App['tenant']>>) {
  const holder = await app.session('mailbox', tenant.accountId)
  await app.session('mailbox', tenant.accountId)
  const put = async (path: string, body: object) => {
    const answer = await holder.put(`/api/v1/mailbox/${path}`, body)
    if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`)
  }
  await put('rules', {
    rules: [
      {
        name: 'Newsletters',
        conditions: [{ field: 'subject', operator: 'contains', value: 'newsletter' }],
        actions: [{ type: 'move', value: 'Newsletters' }, { type: 'mark_read' }],
      },
      {
        name: HOSTILE[0],
        match: 'any',
        conditions: [
          { field: 'from', operator: 'is', value: 'boss@acme.test' },
          { field: 'subject', operator: 'matches', value: `*${HOSTILE[1]}*` },
        ],
        actions: [{ type: 'flag' }],
        enabled: false,
      },
    ],
  })
  await put('forwarding', { enabled: true, addresses: ['jane@elsewhere.test'], keep_copy: true })
  await put('vacation', { enabled: true, subject: 'Away', message: 'I am back on Monday.' })
  await holder.post('/api/v1/mailbox/blocked-senders', { address: 'noise@elsewhere.test' })
  await seedAccess(holder, tenant.email)
  await seedGrant(app, tenant)
}

import type { App } from '../../support/app.ts'
import { HOSTILE } from './hostile.ts'

type Tenant = Awaited<ReturnType<App['tenant']>>

export async function seedRules(tenant: Tenant): Promise<Record<string, string>> {
  await seedFilters(tenant)
  return seedTransportRules(tenant)
}

/** A script of the organization beside the rules of the holder. */
async function seedFilters(tenant: Tenant): Promise<void> {
  const account = await tenant.get(`/api/v1/mailboxes/email-accounts/${tenant.accountId}`)
  const query = new URLSearchParams({ email: account.body.data.email })
  const answer = await tenant.post(`/api/v1/filters/?${query}`, {
    name: 'newsletters',
    content: 'require ["fileinto"];\r\nfileinto "Newsletters";\r\n',
    active: true,
  })
  if (answer.status !== 200) throw new Error(answer.text)
}

/** Transport rules with every kind of condition and action. */
async function seedTransportRules(tenant: Tenant): Promise<Record<string, string>> {
  const rules = [
    {
      name: 'Disclaimer',
      direction: 'outbound',
      conditions: [{ field: 'sender', operator: 'ends_with', value: '@acme.test' }],
      actions: [{ type: 'add_disclaimer', params: { text: 'Acme Ltd, 1 Main Street' } }],
      priority: 10,
    },
    {
      name: HOSTILE[0],
      description: HOSTILE[1],
      condition_logic: 'any',
      conditions: [
        { field: 'subject', operator: 'contains', value: HOSTILE[2] },
        { field: 'header', operator: 'equals', value: 'X-Priority: high' },
        { field: 'size', operator: 'greater_than', value: String(20 * 1024 ** 2) },
        { field: 'has_attachment', operator: 'equals', value: 'true' },
      ],
      actions: [
        {
          type: 'modify_subject',
          params: { prefix: '[external] ', suffix: HOSTILE[5]?.slice(0, 80) },
        },
        { type: 'add_header', params: { name: 'X-Checked', value: HOSTILE[4] } },
        { type: 'bcc', params: { address: 'person-0@acme.test' } },
        { type: 'reject', params: { message: 'Not here' } },
        { type: 'quarantine', params: { reason: 'Large' } },
      ],
      enabled: false,
      priority: 20,
    },
  ]
  const ids: string[] = []
  for (const rule of rules) {
    const answer = await tenant.post('/api/v1/transport-rules/', rule)
    if (answer.status !== 201) throw new Error(answer.text)
    ids.push(answer.body.data.id)
  }
  return { rule_id: ids[1] ?? '' }
}

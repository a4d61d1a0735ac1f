import type { WhitelabelConfig } from '../../api/schema.ts'
import { forget } from '../../lib/query.ts'
import { Field, TextArea } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Card } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { api } from '../api.ts'
import { t } from './words.ts'

export type Draft = WhitelabelConfig['whitelabel']
type Name = keyof Draft

const NAMES: readonly Name[] = [
  'brand_name',
  'primary_color',
  'secondary_color',
  'logo_url',
  'favicon_url',
  'custom_domain',
  'support_email',
  'support_url',
  'login_page_html',
  'footer_html',
  'custom_css',
]

/** Every field of the brand; what is empty is removed. */
export function BrandForm({
  config,
  change,
}: {
  config: WhitelabelConfig
  change(name: Name, value: string): void
}) {
  const { whitelabel: brand } = config
  const of = (name: Name, label: string) => ({
    label,
    name,
    value: brand[name] ?? '',
    onInput: (value: string) => change(name, value),
  })
  const line = (name: Name, label: string) => ({ ...of(name, label), autocomplete: 'off' as const })
  return (
    <Card title={t.look}>
      <Form
        submit={t.save}
        onSubmit={async (values, idempotencyKey) => {
          const body: Draft = Object.fromEntries(NAMES.map((name) => [name, values.optional(name)]))
          await api.put('/whitelabel/config/{org_id}', {
            params: { org_id: config.organization_id },
            body,
            idempotencyKey,
          })
          forget('white-label')
          toast(t.saved)
        }}
      >
        <Field {...line('brand_name', t.name)} maxLength={255} />
        <Field {...line('primary_color', t.primary)} hint={t.primaryHint} maxLength={7} />
        <Field {...line('logo_url', t.logo)} type="url" hint={t.httpsHint} />
        <Field {...line('favicon_url', t.favicon)} type="url" hint={t.httpsHint} />
        <Field {...line('custom_domain', t.domain)} hint={t.domainHint} />
        <Field {...line('support_email', t.supportEmail)} type="email" />
        <Field {...line('support_url', t.supportUrl)} type="url" hint={t.httpsHint} />
        <details>
          <summary>{t.own}</summary>
          <div class="stack">
            <p class="muted">{t.ownHint}</p>
            <Field {...line('secondary_color', t.secondary)} maxLength={7} />
            <TextArea {...of('login_page_html', t.loginHtml)} />
            <TextArea {...of('footer_html', t.footerHtml)} rows={3} />
            <TextArea {...of('custom_css', t.css)} />
          </div>
        </details>
      </Form>
    </Card>
  )
}

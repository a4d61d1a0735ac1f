import type { DomainDetail, Get } from '../../api/schema.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { Failed } from '../../ui/failed.tsx'
import { CheckBox, Field } from '../../ui/field.tsx'
import { Form, type Values } from '../../ui/form.tsx'
import { Card } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t } from './settings.words.ts'

type Policy = Get['/storage/quotas/domain/{domain}']['data']['quota_configuration']

const MIB = 1024 ** 2

const wordsIn = (text: string): string[] => text.split(/[\s,;]+/).filter(Boolean)

/** The policy of the domain itself, without that of its organization. */
const storedTypes = ({ storage_quotas }: DomainDetail, name: string): string => {
  const types = storage_quotas[name]
  return Array.isArray(types) ? types.join(', ') : ''
}

/** An empty list is left out, so that the one of the organization applies. */
function policyOf(values: Values, stored: Record<string, unknown>): Record<string, unknown> {
  const { allowed_file_types: _, blocked_file_types: __, ...others } = stored
  const allowed = wordsIn(values.text('allowed_file_types'))
  const blocked = wordsIn(values.text('blocked_file_types'))
  const bytes = (name: string) => Math.round((values.number(name) ?? 0) * MIB)
  const file = bytes('max_file_size')
  return {
    ...others,
    enforce_limits: values.checked('enforce_limits'),
    max_email_size: bytes('max_email_size'),
    max_file_size: file,
    max_attachment_size: file,
    ...(allowed.length > 0 && { allowed_file_types: allowed }),
    ...(blocked.length > 0 && { blocked_file_types: blocked }),
  }
}

/** Sizes and types of attachments that are accepted. */
export function AttachmentPolicy({ domain }: { domain: DomainDetail }) {
  const { data, error, again } = useQuery(`domain-files ${domain.domain}`, () =>
    api.get('/storage/quotas/domain/{domain}', { params: { domain: domain.domain } }),
  )
  return (
    <Card title={t.attachments}>
      <div class="narrow">
        <Failed error={error} again={again} />
        {data && <PolicyForm domain={domain} policy={data.quota_configuration} />}
      </div>
    </Card>
  )
}

function PolicyForm({ domain, policy }: { domain: DomainDetail; policy: Policy }) {
  const size = { type: 'number', min: 0, step: 'any', suffix: t.mib, required: true } as const
  // The smaller of the two applies to attachments.
  const largestFile = Math.min(policy.max_file_size, policy.max_attachment_size)
  return (
    <Form
      submit={common.save}
      onSubmit={async (values, idempotencyKey) => {
        await api.put('/domains/{domain_id}/quotas', {
          params: { domain_id: domain.id },
          body: { storage_quotas: policyOf(values, domain.storage_quotas) },
          idempotencyKey,
        })
        forget('domain')
        toast(t.savedAttachments(domain.domain_unicode))
      }}
    >
      <CheckBox
        label={t.enforce}
        name="enforce_limits"
        hint={t.enforceHint}
        checked={policy.enforce_limits}
      />
      <div class="pair">
        <Field
          {...size}
          label={t.largestMessage}
          name="max_email_size"
          value={policy.max_email_size / MIB}
        />
        <Field
          {...size}
          label={t.largestAttachment}
          name="max_file_size"
          value={largestFile / MIB}
        />
      </div>
      <Field
        label={t.allowedTypes}
        name="allowed_file_types"
        value={storedTypes(domain, 'allowed_file_types')}
        hint={t.allowedHint}
        autocomplete="off"
      />
      <Field
        label={t.blockedTypes}
        name="blocked_file_types"
        value={storedTypes(domain, 'blocked_file_types')}
        hint={t.blockedHint}
        autocomplete="off"
      />
    </Form>
  )
}

import type { DomainDetail } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { useCapability, useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { Field } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Card, Facts, Time, Usage } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { Limits } from '../rate-limits/limits.tsx'
import { Frame } from './frame.tsx'
import { t } from './settings.words.ts'

const GIB = 1024 ** 3

export const DomainLimits = () => (
  <Frame part={t.limits}>
    {(domain) => (
      <>
        <Storage domain={domain} />
        <SendingLimits name={domain.domain} />
      </>
    )}
  </Frame>
)

const SendingLimits = ({ name }: { name: string }) =>
  useCapability('rate_limits') ? <Limits of={{ type: 'domain', name }} /> : null

function Storage({ domain }: { domain: DomainDetail }) {
  const may = useMay()
  return (
    <Card title={t.storage}>
      <div class="stack">
        <Facts
          facts={[
            {
              name: t.storageUsed,
              value: (
                <Usage
                  used={domain.total_storage_used}
                  limit={domain.max_quota}
                  label={t.storageUsed}
                />
              ),
            },
            {
              name: t.mailboxes,
              value: (
                <Usage
                  used={domain.email_account_count}
                  limit={domain.max_users}
                  label={t.mailboxes}
                  show={number}
                />
              ),
            },
            { name: t.counted, value: <Time iso={domain.last_storage_calculation} /> },
          ]}
        />
        {domain.quota_override && <p class="note">{t.override}</p>}
        {may<'PUT /domains/{domain_id}/quotas'>('write') && (
          <div class="narrow">
            <Form
              submit={common.save}
              onSubmit={async (values, idempotencyKey) => {
                await api.put('/domains/{domain_id}/quotas', {
                  params: { domain_id: domain.id },
                  body: {
                    max_quota: Math.round((values.number('max_quota') ?? 0) * GIB),
                    max_users: values.number('max_users') ?? 0,
                  },
                  idempotencyKey,
                })
                forget('domain')
                toast(t.savedLimits(domain.domain_unicode))
              }}
            >
              <div class="pair">
                <Field
                  label={t.quota}
                  name="max_quota"
                  type="number"
                  min={0}
                  step="any"
                  value={domain.max_quota / GIB}
                  hint={t.zero}
                  suffix={t.gib}
                  required
                />
                <Field
                  label={t.users}
                  name="max_users"
                  type="number"
                  min={0}
                  step={1}
                  value={domain.max_users}
                  hint={t.zero}
                  required
                />
              </div>
            </Form>
          </div>
        )}
      </div>
    </Card>
  )
}

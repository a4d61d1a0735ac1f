import type { DomainDetail, Get } from '../../api/schema.ts'
import { useCapability } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { Failed } from '../../ui/failed.tsx'
import { CheckBox, Field } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Card } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { AttachmentPolicy } from './attachments.tsx'
import { Frame } from './frame.tsx'
import { t } from './settings.words.ts'

export const DomainSettings = () => (
  <Frame part={t.settings}>
    {(domain) => (
      <>
        <General domain={domain} />
        <Spam domain={domain.domain} />
        <AttachmentPolicy domain={domain} />
      </>
    )}
  </Frame>
)

function General({ domain }: { domain: DomainDetail }) {
  const canTrack = useCapability('tracking')
  return (
    <Card title={t.general}>
      <div class="narrow">
        <Form
          submit={common.save}
          onSubmit={async (values, idempotencyKey) => {
            await api.put('/domains/{domain_id}', {
              params: { domain_id: domain.id },
              body: {
                description: values.optional('description'),
                active: values.checked('active'),
                ...(canTrack && { tracking_enabled: values.checked('tracking_enabled') }),
              },
              idempotencyKey,
            })
            forget('domain')
            toast(t.saved(domain.domain_unicode))
          }}
        >
          <Field label={t.description} name="description" value={domain.description ?? ''} />
          <CheckBox label={t.active} name="active" hint={t.activeHint} checked={domain.active} />
          {canTrack && (
            <CheckBox
              label={t.tracking}
              name="tracking_enabled"
              hint={t.trackingHint}
              checked={domain.tracking_enabled}
            />
          )}
        </Form>
      </div>
    </Card>
  )
}

type Policy = Get['/domains/get/domain/policy/{domain}']['data']

function Spam({ domain }: { domain: string }) {
  const { data, error, again } = useQuery(`domain-policy ${domain}`, () =>
    api.get('/domains/get/domain/policy/{domain}', { params: { domain } }),
  )
  return (
    <Card title={t.spam}>
      <div class="narrow">
        <Failed error={error} again={again} />
        {data && <SpamForm policy={data} />}
      </div>
    </Card>
  )
}

/** A flag that was never set is what the API uses by default. */
const SpamForm = ({ policy }: { policy: Policy }) => (
  <Form
    submit={common.save}
    onSubmit={async (values, idempotencyKey) => {
      const flag = (name: string) => (values.checked(name) ? 1 : 0)
      await api.post('/domains/edit/domain/policy', {
        body: {
          domain: policy.domain,
          policy_reject_spam: flag('policy_reject_spam'),
          policy_greylist: flag('policy_greylist'),
          policy_rbl: flag('policy_rbl'),
          policy_bl_only: flag('policy_bl_only'),
        },
        idempotencyKey,
      })
      forget('domain-policy')
      toast(t.savedSpam(policy.domain))
    }}
  >
    <CheckBox
      label={t.rejectSpam}
      name="policy_reject_spam"
      hint={t.rejectSpamHint}
      checked={policy.policy_reject_spam === 1}
    />
    <CheckBox
      label={t.greylist}
      name="policy_greylist"
      hint={t.greylistHint}
      checked={policy.policy_greylist !== 0}
    />
    <CheckBox label={t.rbl} name="policy_rbl" hint={t.rblHint} checked={policy.policy_rbl !== 0} />
    <CheckBox
      label={t.onlyLists}
      name="policy_bl_only"
      hint={t.onlyListsHint}
      checked={policy.policy_bl_only === 1}
    />
  </Form>
)

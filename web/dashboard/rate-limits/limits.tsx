import { useState } from 'preact/hooks'
import type { Get, Post } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { Failed } from '../../ui/failed.tsx'
import { CheckBox, Field } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Card, Facts, Usage } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t } from './words.ts'

type State = Get['/rate-limiter/rate-limits/domain/{domain}']['data']['data']
type Change = NonNullable<Post['/rate-limiter/rate-limits/domain/{domain}']['body']>

/** A domain or a mailbox with limits, by name. */
export interface Limited {
  type: 'domain' | 'mailbox'
  name: string
}

const read = ({ type, name }: Limited) =>
  type === 'domain'
    ? api.get('/rate-limiter/rate-limits/domain/{domain}', { params: { domain: name } })
    : api.get('/rate-limiter/rate-limits/mailbox/{email}', { params: { email: name } })

const save = ({ type, name }: Limited, body: Change, idempotencyKey: string) =>
  type === 'domain'
    ? api.post('/rate-limiter/rate-limits/domain/{domain}', {
        params: { domain: name },
        body,
        idempotencyKey,
      })
    : api.post('/rate-limiter/rate-limits/mailbox/{email}', {
        params: { email: name },
        body,
        idempotencyKey,
      })

/** Usage and settings of the sending limits of a domain or a mailbox. */
export function Limits({ of }: { of: Limited }) {
  const may = useMay()
  const { data, error, again } = useQuery(`rate-limits ${of.type} ${of.name}`, () => read(of), {
    everySeconds: 30,
  })
  const state = data?.data
  return (
    <>
      <Failed error={error} again={again} />
      {state && (
        <>
          <Used of={of} state={state} />
          {may<'POST /rate-limiter/rate-limits/domain/{domain}'>('write') && (
            <Settings of={of} state={state} />
          )}
        </>
      )}
    </>
  )
}

function Used({ of, state: { config, usage } }: { of: Limited; state: State }) {
  const may = useMay()
  const [resetting, setResetting] = useState(false)
  const fact = (period: keyof typeof t.periods, used: number, limit: number) => ({
    name: t.periods[period],
    value: <Usage used={used} limit={limit} label={t.periods[period]} show={number} />,
  })
  const reset = may<'POST /rate-limiter/rate-limits/reset'>('write') && (
    <button type="button" class="small" onClick={() => setResetting(true)}>
      {t.reset}
    </button>
  )
  return (
    <Card title={t.usage} actions={reset}>
      <div class="stack">
        {!config.active && <p class="note warn">{t.off}</p>}
        <Facts
          facts={[
            fact('minute', usage.minute_count, config.minute_limit),
            fact('hourly', usage.hourly_count, config.hourly_limit),
            fact('daily', usage.daily_count, config.daily_limit),
            fact('monthly', usage.monthly_count, config.monthly_limit),
          ]}
        />
      </div>
      <Confirm
        title={t.resetTitle(of.name)}
        open={resetting}
        onClose={() => setResetting(false)}
        submit={t.reset}
        onConfirm={async (idempotencyKey) => {
          await api.post('/rate-limiter/rate-limits/reset', {
            body: { type: of.type, identifier: of.name },
            idempotencyKey,
          })
          forget('rate-limits')
          toast(t.resetDone(of.name))
        }}
      >
        <p>{t.resetHint}</p>
      </Confirm>
    </Card>
  )
}

const FIELDS = ['minute', 'hourly', 'daily', 'monthly'] as const

const Settings = ({ of, state: { config, operator_limits } }: { of: Limited; state: State }) => (
  <Card title={t.settings}>
    <div class="narrow">
      <p class="muted">{t.hint}</p>
      <Form
        submit={common.save}
        onSubmit={async (values, idempotencyKey) => {
          const limits = FIELDS.map((one) => [`${one}_limit`, values.number(`${one}_limit`) ?? 0])
          const change = { ...Object.fromEntries(limits), active: values.checked('active') }
          await save(of, change, idempotencyKey)
          forget('rate-limits')
          toast(t.saved(of.name))
        }}
      >
        <div class="pair">
          {FIELDS.map((one) => {
            const ceiling = operator_limits[`${one}_limit`]
            return (
              <Field
                key={one}
                label={t[one]}
                name={`${one}_limit`}
                type="number"
                min={0}
                step={1}
                value={config[`${one}_limit`]}
                hint={ceiling > 0 ? t.atMost(number(ceiling)) : t.zero}
              />
            )
          })}
        </div>
        <CheckBox label={t.active} name="active" checked={config.active} />
      </Form>
    </div>
  </Card>
)

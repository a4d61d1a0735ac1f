import { useState } from 'preact/hooks'
import { beginEnrolment, confirmEnrolment, type Enrolment } from '../../lib/enrolment.ts'
import { forget, useAction, useQuery } from '../../lib/query.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Enrol } from '../../ui/enrol.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { Card, Time } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { api } from '../api.ts'
import { t } from './words.ts'

export function SecondFactor() {
  const { data, error, again } = useQuery('two-factor', () => api.get('/auth/two-factor'))
  const [enrolment, setEnrolment] = useState<Enrolment>()
  const [leaving, setLeaving] = useState(false)
  const begin = useAction(async () => setEnrolment(await beginEnrolment('dashboard', api)))
  return (
    <Card
      title={t.twoFactor}
      actions={
        data && !data.enabled ? (
          <button
            type="button"
            class="small primary"
            disabled={begin.busy}
            onClick={() => void begin.run()}
          >
            {t.turnOn}
          </button>
        ) : (
          data &&
          !data.required && (
            <button type="button" class="small" onClick={() => setLeaving(true)}>
              {t.turnOff}
            </button>
          )
        )
      }
    >
      <div class="prose">
        <Failed error={error ?? begin.error} again={again} />
        {data && <p>{data.enabled ? t.isOn : t.isOff}</p>}
        {data?.required && <p>{t.required}</p>}
        {data?.enabled && (
          <p class="muted">
            {t.since} <Time iso={data.enabled_at} form="date" />.{' '}
            {t.codesLeft(data.backup_codes_left)}
          </p>
        )}
      </div>
      <Dialog
        title={t.twoFactor}
        open={enrolment !== undefined}
        onClose={() => setEnrolment(undefined)}
        size="wide"
      >
        {enrolment && (
          <Enrol
            enrolment={enrolment}
            onCancel={() => setEnrolment(undefined)}
            verify={async (code) => {
              await confirmEnrolment('dashboard', api, code)
              setEnrolment(undefined)
              forget('two-factor')
              toast(t.turnedOn)
            }}
          />
        )}
      </Dialog>
      <FormDialog
        title={t.turnOff}
        open={leaving}
        onClose={() => setLeaving(false)}
        submit={t.turnOff}
        danger
        onSubmit={async (values) => {
          await api.post('/auth/two-factor/disable', { body: { code: values.text('code') } })
          forget('two-factor')
          toast(t.turnedOff)
        }}
      >
        <p>{t.turnOffHint}</p>
        <Field
          label={t.code}
          name="code"
          inputMode="numeric"
          autocomplete="one-time-code"
          required
        />
      </FormDialog>
    </Card>
  )
}

import { useState } from 'preact/hooks'
import type { Enrolment } from '../../lib/enrolment.ts'
import { forget, useAction, useQuery } from '../../lib/query.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Enrol } from '../../ui/enrol.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { Badge, Card, Facts, Heading, Time } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { api } from '../api.ts'
import { t } from './words.ts'

const FEW_CODES = 3

function changed(words: string): void {
  forget('two-factor')
  forget('home')
  toast(words)
}

export function TwoFactor() {
  const { data, error, again } = useQuery('two-factor', () => api.get('/mailbox/two-factor'))
  const badge = data && (
    <Badge tone={data.enabled ? 'good' : 'warn'}>{data.enabled ? t.on : t.off}</Badge>
  )
  return (
    <>
      <Heading title={t.title} badge={badge} />
      <Failed error={error} again={again} />
      {data && (
        <Card>
          <div class="narrow">
            <p class="prose">{t.hint}</p>
            <p class="muted">{t.programs}</p>
            {data.enabled ? (
              <>
                <Facts
                  facts={[
                    { name: t.since, value: <Time iso={data.enabled_at} form="date" /> },
                    {
                      name: t.codesLeft,
                      value: data.backup_codes_left,
                      ...(data.backup_codes_left < FEW_CODES && {
                        tone: 'warn' as const,
                        note: t.codesFew,
                      }),
                    },
                  ]}
                />
                <Disable />
              </>
            ) : (
              <Enable />
            )}
          </div>
        </Card>
      )}
    </>
  )
}

/** The secret and the codes are only in this component, and gone when the dialog closes. */
function Enable() {
  const [enrolment, setEnrolment] = useState<Enrolment>()
  const close = () => setEnrolment(undefined)
  const begin = useAction(async () => setEnrolment(await api.post('/mailbox/two-factor/setup')))
  return (
    <>
      <Failed error={begin.error} />
      <p class="actions">
        <button
          type="button"
          class="primary"
          disabled={begin.busy}
          onClick={() => void begin.run()}
        >
          {t.begin}
        </button>
      </p>
      <Dialog title={t.beginTitle} open={enrolment !== undefined} onClose={close} size="wide">
        {enrolment && (
          <Enrol
            enrolment={enrolment}
            onCancel={close}
            verify={async (code) => {
              await api.post('/mailbox/two-factor/confirm', { body: { code } })
              close()
              changed(t.enabledNow)
            }}
          />
        )}
      </Dialog>
    </>
  )
}

function Disable() {
  const [open, setOpen] = useState(false)
  return (
    <>
      <p class="actions">
        <button type="button" onClick={() => setOpen(true)}>
          {t.disable}
        </button>
      </p>
      <FormDialog
        title={t.disableTitle}
        open={open}
        onClose={() => setOpen(false)}
        submit={t.disable}
        danger
        onSubmit={async (values, idempotencyKey) => {
          await api.delete('/mailbox/two-factor', {
            body: { two_factor_code: values.text('two_factor_code') },
            idempotencyKey,
          })
          changed(t.disabledNow)
        }}
      >
        <p>{t.disableHint}</p>
        <Field
          label={t.code}
          name="two_factor_code"
          autocomplete="one-time-code"
          hint={t.codeHint}
          required
        />
      </FormDialog>
    </>
  )
}

import { useState } from 'preact/hooks'
import type { Post } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { forget } from '../../lib/query.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { Form, type Values } from '../../ui/form.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { ReasonField } from '../fields.tsx'
import { t } from './words.ts'

type Request = Post['/queue/mail-queue/by-filter']['body']
type Counted = Post['/queue/mail-queue/by-filter']['data']

const ROUTE = '/queue/mail-queue/by-filter'
const TEXTS = ['sender', 'domain', 'recipient', 'error_contains'] as const

/** Only what was filled in is a condition. */
function requestOf(values: Values): Request {
  const minutes = values.optional('older_than_minutes')
  return {
    ...Object.fromEntries(
      TEXTS.flatMap((name) => {
        const text = values.optional(name)
        return text ? [[name, text]] : []
      }),
    ),
    ...(minutes && { older_than_minutes: Number(minutes) }),
    action: values.text('action') as Request['action'],
    reason: values.text('reason'),
  }
}

/** Changes what a filter matches. The API refuses it when the count has changed in the meantime. */
export function ByFilter({ open, onClose }: { open: boolean; onClose(): void }) {
  const [asked, setAsked] = useState<{ request: Request; counted: Counted }>()
  const close = () => {
    setAsked(undefined)
    onClose()
  }
  return (
    <Dialog title={t.byFilter} open={open} onClose={close}>
      {asked ? (
        <Change {...asked} close={close} />
      ) : (
        <Form
          submit={t.count}
          onCancel={close}
          onSubmit={async (values, idempotencyKey) => {
            const request = requestOf(values)
            setAsked({ request, counted: await api.post(ROUTE, { body: request, idempotencyKey }) })
          }}
        >
          <p class="muted">{t.filterHint}</p>
          <Field label={t.sender} name="sender" autocomplete="off" />
          <Field label={t.recipientDomain} name="domain" autocomplete="off" />
          <Field label={t.recipient} name="recipient" autocomplete="off" />
          <Field label={t.errorContains} name="error_contains" autocomplete="off" />
          <Field label={t.olderThan} name="older_than_minutes" type="number" min={1} />
          <Select
            label={t.action}
            name="action"
            options={Object.entries(t.actionsOf)}
            value="hold"
          />
          <ReasonField />
        </Form>
      )}
    </Dialog>
  )
}

function Change({
  request,
  counted: { matched, summary },
  close,
}: {
  request: Request
  counted: Counted
  close(): void
}) {
  const [typed, setTyped] = useState('')
  const isDelete = request.action === 'delete'
  const name = String(matched)
  return (
    <Form
      submit={t.changeAll(t.actionsOf[request.action], number(matched))}
      danger={isDelete}
      disabled={matched === 0 || (isDelete && typed.trim() !== name)}
      onCancel={close}
      onSubmit={async (_values, idempotencyKey) => {
        const { changed, remaining } = await api.post(ROUTE, {
          body: { ...request, expected_count: matched },
          idempotencyKey,
        })
        forget('queue')
        toast(
          remaining > 0
            ? t.changedSome(number(changed), number(remaining))
            : t.changedAll(number(changed)),
        )
        close()
      }}
    >
      <div class="prose">
        <p>{t.filterMatched(number(matched))}</p>
        <p class="muted">
          {Object.entries(summary)
            .map(([state, count]) => `${t.statuses[state as 'hold']}: ${number(count)}`)
            .join(' · ')}
        </p>
        {isDelete && <p>{t.removeHint}</p>}
      </div>
      {isDelete && (
        <Field
          label={common.typeToConfirm(name)}
          name="confirmation"
          required
          autocomplete="off"
          onInput={setTyped}
        />
      )}
    </Form>
  )
}

import { useState } from 'preact/hooks'
import type { Post } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { forget } from '../../lib/query.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Text } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { ReasonField } from '../fields.tsx'
import { t } from './words.ts'

type Request = Post['/queue/mail-queue/by-sender']['body']
type Counted = Post['/queue/mail-queue/by-sender']['data']

const ROUTE = '/queue/mail-queue/by-sender'

/** Changes all queued mail of a sender. It is counted first, and nothing changes before the count was seen. */
export function BySender({
  sender,
  open,
  onClose,
}: {
  sender: string
  open: boolean
  onClose(): void
}) {
  const [asked, setAsked] = useState<{ request: Request; counted: Counted }>()
  const close = () => {
    setAsked(undefined)
    onClose()
  }
  return (
    <Dialog title={t.bySender} open={open} onClose={close}>
      {asked ? (
        <Change {...asked} close={close} />
      ) : (
        <Form
          submit={t.count}
          onCancel={close}
          onSubmit={async (values, idempotencyKey) => {
            const request: Request = {
              sender: values.text('sender'),
              action: values.text('action') as Request['action'],
              reason: values.text('reason'),
            }
            const body = { ...request, dry_run: true }
            setAsked({ request, counted: await api.post(ROUTE, { body, idempotencyKey }) })
          }}
        >
          <Field
            label={t.sender}
            name="sender"
            required
            hint={t.bySenderHint}
            autocomplete="off"
            value={sender}
          />
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
  counted,
  close,
}: {
  request: Request
  counted: Counted
  close(): void
}) {
  const { matched, summary } = counted
  const [typed, setTyped] = useState('')
  const isDelete = request.action === 'delete'
  return (
    <Form
      submit={t.changeAll(t.actionsOf[request.action], number(matched))}
      danger={isDelete}
      disabled={matched === 0 || (isDelete && typed.trim() !== request.sender)}
      onCancel={close}
      onSubmit={async (_values, idempotencyKey) => {
        const { changed, remaining } = await api.post(ROUTE, {
          body: { ...request, dry_run: false },
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
        <p>
          {t.matched(number(matched))} <Text>{request.sender}</Text>
        </p>
        <p class="muted">
          {Object.entries(summary)
            .map(([state, count]) => `${t.statuses[state as 'hold']}: ${number(count)}`)
            .join(' · ')}
        </p>
        {isDelete && <p>{t.removeHint}</p>}
      </div>
      {isDelete && (
        <Field
          label={common.typeToConfirm(request.sender)}
          name="confirmation"
          required
          autocomplete="off"
          onInput={setTyped}
        />
      )}
    </Form>
  )
}

import { useState } from 'preact/hooks'
import type { SharedMailboxDetail } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { go, useParams } from '../../lib/router.tsx'
import { ConfirmByName } from '../../ui/confirm.tsx'
import { Failed } from '../../ui/failed.tsx'
import { CheckBox, Field, TextArea } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { Card, Heading } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { Members } from './members.tsx'
import { t } from './words.ts'

export function SharedMailbox() {
  const { mailbox_id = '' } = useParams()
  const params = { mailbox_id }
  const may = useMay()
  const [deleting, setDeleting] = useState(false)
  const { data, error, again } = useQuery(`shared-mailbox ${mailbox_id}`, () =>
    api.get('/shared-mailboxes/{mailbox_id}', { params }),
  )
  const email = data?.mailbox.email ?? ''
  return (
    <>
      <Heading
        title={data ? email : t.one}
        parent={{ title: t.title, to: '/app/shared-mailboxes' }}
      >
        {data && may<'DELETE /shared-mailboxes/{mailbox_id}'>('write') && (
          <Menu name={common.actionsFor(email)}>
            <MenuItem danger onClick={() => setDeleting(true)}>
              {t.remove}
            </MenuItem>
          </Menu>
        )}
      </Heading>
      <Failed error={error} again={again} />
      {data && (
        <>
          <Members mailboxId={mailbox_id} members={data.members} />
          <Settings mailbox={data.mailbox} />
          <ConfirmByName
            title={t.removeTitle(email)}
            open={deleting}
            onClose={() => setDeleting(false)}
            submit={t.remove}
            name={email}
            onConfirm={async (idempotencyKey) => {
              await api.delete('/shared-mailboxes/{mailbox_id}', { params, idempotencyKey })
              forget('shared-mailboxes')
              toast(t.removed(email))
              go('/app/shared-mailboxes')
            }}
          >
            <p>{t.removeHint}</p>
          </ConfirmByName>
        </>
      )}
    </>
  )
}

function Settings({ mailbox }: Pick<SharedMailboxDetail, 'mailbox'>) {
  const may = useMay()
  if (!may<'PUT /shared-mailboxes/{mailbox_id}'>('write')) return null
  return (
    <Card title={t.settings}>
      <div class="narrow">
        <Form
          submit={common.save}
          onSubmit={async (values, idempotencyKey) => {
            await api.put('/shared-mailboxes/{mailbox_id}', {
              params: { mailbox_id: mailbox.id },
              body: {
                name: values.text('name'),
                auto_reply_enabled: values.checked('auto_reply_enabled'),
                auto_reply_message: values.optional('auto_reply_message'),
              },
              idempotencyKey,
            })
            forget('shared-mailbox')
            toast(t.saved)
          }}
        >
          <Field label={t.name} name="name" required value={mailbox.name} autocomplete="off" />
          <CheckBox
            label={t.autoReply}
            name="auto_reply_enabled"
            checked={mailbox.auto_reply_enabled}
          />
          <TextArea
            label={t.autoReplyText}
            name="auto_reply_message"
            value={mailbox.auto_reply_message ?? ''}
          />
        </Form>
      </div>
    </Card>
  )
}

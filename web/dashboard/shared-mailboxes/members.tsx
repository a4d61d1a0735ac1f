import { useState } from 'preact/hooks'
import { ApiError } from '../../api/client.ts'
import type { SharedMailboxDetail } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useAction } from '../../lib/query.ts'
import { Failed } from '../../ui/failed.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { Card, Empty, Text } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t } from './words.ts'

type Member = SharedMailboxDetail['members'][number]
type Permission = Member['permission']

const PERMISSIONS: readonly Permission[] = ['read_only', 'send_on_behalf', 'send_as', 'full_access']

/** A matrix of people and permissions; a click changes it at once. */
export function Members({ mailboxId, members }: { mailboxId: string; members: readonly Member[] }) {
  const may = useMay()
  const [adding, setAdding] = useState(false)
  const mayChange = may<'PUT /shared-mailboxes/{mailbox_id}/members/{member_account_id}'>('write')
  const paramsOf = (member: Member) => ({
    mailbox_id: mailboxId,
    member_account_id: member.email_account_id,
  })
  const change = useAction(async (idempotencyKey, member: Member, permission: Permission) => {
    await api.put('/shared-mailboxes/{mailbox_id}/members/{member_account_id}', {
      params: paramsOf(member),
      body: { permission },
      idempotencyKey,
    })
    forget('shared-mailbox')
    toast(t.changed)
  })
  const takeAway = useAction(async (idempotencyKey, member: Member) => {
    await api.delete('/shared-mailboxes/{mailbox_id}/members/{member_account_id}', {
      params: paramsOf(member),
      idempotencyKey,
    })
    forget('shared-mailbox')
    toast(t.memberRemoved(member.member_email), () =>
      addMember(mailboxId, member.email_account_id, member.permission),
    )
  })
  const columns: Column<Member>[] = [
    { title: t.person, cell: ({ member_email }) => <Text>{member_email}</Text> },
    ...PERMISSIONS.map((permission) => ({
      title: t.matrix[permission],
      cell: (member: Member) => (
        <input
          type="radio"
          name={member.email_account_id}
          aria-label={`${member.member_email}: ${t.matrix[permission]}`}
          title={t.permissions[permission]}
          checked={member.permission === permission}
          disabled={!mayChange || change.busy}
          onChange={() => void change.run(member, permission)}
        />
      ),
    })),
    ...(mayChange
      ? [
          {
            title: common.actions,
            quiet: true,
            cell: (member: Member) => (
              <button
                type="button"
                class="small"
                disabled={takeAway.busy}
                onClick={() => void takeAway.run(member)}
              >
                {t.takeAway}
                <span class="hidden"> {member.member_email}</span>
              </button>
            ),
          },
        ]
      : []),
  ]
  const add = mayChange && (
    <button type="button" class="small" onClick={() => setAdding(true)}>
      {t.addMember}
    </button>
  )
  return (
    <Card title={t.who} flush actions={add}>
      <Failed error={change.error ?? takeAway.error} />
      <Table
        caption={t.who}
        columns={columns}
        rows={members}
        rowKey={({ email_account_id }) => email_account_id}
        empty={<Empty title={t.noMembers}>{t.noMembersHint}</Empty>}
      />
      <AddMember mailboxId={mailboxId} open={adding} onClose={() => setAdding(false)} />
    </Card>
  )
}

async function addMember(mailbox_id: string, email_account_id: string, permission: Permission) {
  await api.post('/shared-mailboxes/{mailbox_id}/members', {
    params: { mailbox_id },
    body: { email_account_id, permission },
  })
  forget('shared-mailbox')
}

const AddMember = ({
  mailboxId,
  ...dialog
}: {
  mailboxId: string
  open: boolean
  onClose(): void
}) => (
  <FormDialog
    {...dialog}
    title={t.addMember}
    submit={t.addMember}
    onSubmit={async (values) => {
      const email = values.text('email').toLowerCase()
      const { items } = await api.get('/mailboxes/email-accounts', { query: { q: email } })
      const account = items.find((one) => one.email === email)
      if (!account) {
        throw new ApiError({
          status: 422,
          message: t.notFound(email),
          fields: { email: t.notFound(email) },
        })
      }
      await addMember(mailboxId, account.id, values.text('permission') as Permission)
      toast(t.memberAdded(email))
    }}
  >
    <Field
      label={t.address}
      name="email"
      type="email"
      required
      hint={t.memberHint}
      autocomplete="off"
    />
    <Select
      label={t.permission}
      name="permission"
      value="full_access"
      options={PERMISSIONS.map((one) => [one, t.permissions[one]] as const)}
    />
  </FormDialog>
)

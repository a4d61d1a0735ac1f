import { useState } from 'preact/hooks'
import type { LiveOperatorSession } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { ConfirmWithReason } from '../../ui/confirm.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Badge, Card, Empty, Heading, Text, Time } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t } from './words.ts'

const columns: Column<LiveOperatorSession>[] = [
  {
    title: t.operator,
    cell: ({ operator_id, operator_email }) => (
      <a href={`/console/operators/${operator_id}`}>
        <Text>{operator_email}</Text>
      </a>
    ),
  },
  {
    title: t.address,
    cell: ({ ip_address, is_current, mfa_satisfied }) => (
      <span class="with-badge">
        <code>{ip_address}</code>
        {is_current && <Badge tone="info">{t.current}</Badge>}
        {!mfa_satisfied && <Badge tone="warn">{t.partial}</Badge>}
      </span>
    ),
  },
  { title: t.browser, minor: true, cell: ({ user_agent }) => <Text>{user_agent}</Text> },
  { title: t.started, minor: true, cell: ({ created_at }) => <Time iso={created_at} /> },
  { title: t.ends, minor: true, cell: ({ expires_at }) => <Time iso={expires_at} /> },
  { title: common.actions, quiet: true, cell: (one) => <End session={one} /> },
]

export function Sessions() {
  const { data, error, again, loading } = useQuery('sessions', () => api.get('/platform/sessions'))
  return (
    <>
      <Heading title={t.title} />
      <Failed error={error} again={again} />
      <Card flush>
        <Table
          caption={t.title}
          columns={columns}
          rows={data?.items}
          rowKey={({ id }) => id}
          loading={loading}
          empty={<Empty title={t.none}>{t.noneHint}</Empty>}
        />
      </Card>
    </>
  )
}

/** One's own session ends with Sign out. */
function End({ session }: { session: LiveOperatorSession }) {
  const may = useMay()
  const [open, setOpen] = useState(false)
  const { id, operator_email, is_current } = session
  if (is_current || !may<'DELETE /platform/sessions/{session_id}'>('owner')) return null
  return (
    <>
      <button type="button" class="small" onClick={() => setOpen(true)}>
        {t.end}
      </button>
      <ConfirmWithReason
        kind="session"
        open={open}
        onClose={() => setOpen(false)}
        title={t.endTitle(operator_email)}
        submit={t.end}
        danger
        onConfirm={async (reason, idempotencyKey) => {
          await api.delete('/platform/sessions/{session_id}', {
            params: { session_id: id },
            body: { reason },
            idempotencyKey,
          })
          forget('sessions')
          forget('operator')
          toast(t.ended(operator_email))
        }}
      >
        <p>{t.endHint}</p>
      </ConfirmWithReason>
    </>
  )
}

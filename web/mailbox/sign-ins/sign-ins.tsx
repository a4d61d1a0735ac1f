import type { MailboxSession } from '../../api/schema.ts'
import { forget, useAction } from '../../lib/query.ts'
import { Failed } from '../../ui/failed.tsx'
import { ListTable, useList } from '../../ui/list.tsx'
import { Badge, Empty, Heading, Text, Time } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { device } from './device.ts'
import { t } from './words.ts'

export function SignIns() {
  const list = useList<MailboxSession>({
    name: 'sign-ins',
    sort: 'created_at',
    dir: 'desc',
    read: ({ page, per_page }) => api.get('/mailbox/sessions', { query: { page, per_page } }),
  })
  const end = useAction(async (idempotencyKey, session_id: string) => {
    await api.delete('/mailbox/sessions/{session_id}', { params: { session_id }, idempotencyKey })
    forget('sign-ins')
    toast(t.ended)
  })
  const columns: Column<MailboxSession>[] = [
    {
      title: t.device,
      cell: (one) => (
        <>
          <Device {...one} /> {one.is_current && <Badge tone="good">{t.current}</Badge>}
        </>
      ),
    },
    { title: t.address, cell: ({ ip_address }) => <code>{ip_address}</code> },
    { title: t.since, cell: ({ created_at }) => <Time iso={created_at} /> },
    { title: t.until, minor: true, cell: ({ expires_at }) => <Time iso={expires_at} /> },
    {
      title: common.actions,
      quiet: true,
      cell: ({ id, is_current }) =>
        !is_current && (
          <button type="button" class="small" disabled={end.busy} onClick={() => void end.run(id)}>
            {t.end}
          </button>
        ),
    },
  ]
  return (
    <>
      <Heading title={t.title} />
      <div class="prose gap">
        <p class="muted">{t.hint}</p>
        <p class="muted">{t.unsure}</p>
      </div>
      <Failed error={end.error} />
      <ListTable
        list={list}
        caption={t.title}
        columns={columns}
        rowKey={({ id }) => id}
        empty={<Empty title={t.title} />}
      />
    </>
  )
}

function Device({ user_agent }: Pick<MailboxSession, 'user_agent'>) {
  const known = device(user_agent ?? '')
  return (
    <span title={user_agent ?? undefined}>
      {known ? t.on(known.browser, known.system) : <Text>{user_agent ?? t.unknown}</Text>}
    </span>
  )
}

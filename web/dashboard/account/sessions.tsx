import type { UserSession } from '../../api/schema.ts'
import { forget, useAction } from '../../lib/query.ts'
import { Failed } from '../../ui/failed.tsx'
import { useList } from '../../ui/list.tsx'
import { Badge, Card, Text, Time } from '../../ui/page.tsx'
import { type Column, Pager, Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t } from './words.ts'

/** The sessions of the person, with a way to end each of them. */
export function OwnSessions() {
  const list = useList({
    name: 'sessions',
    sort: '',
    read: ({ page, per_page }) => api.get('/auth/sessions', { query: { page, per_page } }),
  })
  const end = useAction(async (idempotencyKey, session_id: string) => {
    await api.delete('/auth/sessions/{session_id}', { params: { session_id }, idempotencyKey })
    forget('sessions')
    toast(t.ended)
  })
  const columns: Column<UserSession>[] = [
    {
      title: t.device,
      cell: ({ user_agent, is_current }) => (
        <>
          <Text>{browserName(user_agent)}</Text>{' '}
          {is_current && <Badge tone="info">{t.thisOne}</Badge>}
        </>
      ),
    },
    { title: t.address, minor: true, cell: ({ ip_address }) => <code>{ip_address}</code> },
    { title: t.started, cell: ({ created_at }) => <Time iso={created_at} /> },
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
  const { data, asked } = list
  return (
    <Card title={t.sessions} flush>
      <Failed error={list.error ?? end.error} again={list.again} />
      <Table
        caption={t.sessions}
        columns={columns}
        rows={data?.items}
        rowKey={({ id }) => id}
        expected={2}
      />
      {data && (
        <Pager
          caption={t.sessions}
          page={asked.page}
          perPage={asked.per_page}
          total={data.pagination?.total}
          shown={data.items.length}
          change={list.toPage}
        />
      )}
    </Card>
  )
}

/** The browser and system in a user agent, without the history of the web. */
function browserName(agent: string | null): string {
  if (!agent) return '–'
  const browser = /(Firefox|Edg|OPR|Chrome|Version)\/(\d+)/.exec(agent)
  const system = /(Windows|Android|iPhone|iPad|Mac OS X|Linux)/.exec(agent)?.[1]
  if (!browser) return agent.slice(0, 40)
  const names: Record<string, string> = { Edg: 'Edge', OPR: 'Opera', Version: 'Safari' }
  return [`${names[browser[1] ?? ''] ?? browser[1]} ${browser[2]}`, system]
    .filter(Boolean)
    .join(', ')
}

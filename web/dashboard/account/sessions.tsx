import { forget } from '../../lib/query.ts'
import { SessionTable } from '../../ui/account.tsx'
import { t } from '../../ui/account.words.ts'
import { Failed } from '../../ui/failed.tsx'
import { useList } from '../../ui/list.tsx'
import { Card } from '../../ui/page.tsx'
import { Pager } from '../../ui/table.tsx'
import { api } from '../api.ts'

/** The sessions of the person, with a way to end each of them. */
export function OwnSessions() {
  const list = useList({
    name: 'sessions',
    sort: '',
    read: ({ page, per_page }) => api.get('/auth/sessions', { query: { page, per_page } }),
  })
  const { data, asked } = list
  return (
    <Card title={t.sessions} flush>
      <Failed error={list.error} again={list.again} />
      <SessionTable
        caption={t.sessions}
        sessions={data?.items}
        end={async (session_id, idempotencyKey) => {
          await api.delete('/auth/sessions/{session_id}', {
            params: { session_id },
            idempotencyKey,
          })
          forget('sessions')
        }}
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

import { useState } from 'preact/hooks'
import type { DashboardUser } from '../../api/schema.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { SessionTable } from '../../ui/account.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Pager } from '../../ui/table.tsx'
import { api } from '../api.ts'
import { t } from './words.ts'

const PER_PAGE = 25

/** The places where a person is signed in. */
export const PersonSessions = ({
  user,
  ...dialog
}: {
  user: DashboardUser
  open: boolean
  onClose(): void
}) => (
  <Dialog {...dialog} title={t.sessionsTitle(user.email)} size="wide">
    <Sessions user={user} />
  </Dialog>
)

function Sessions({ user: { id: user_id, email } }: { user: DashboardUser }) {
  const [page, setPage] = useState(1)
  const { data, error, again } = useQuery(`people sessions ${user_id} ${page}`, () =>
    api.get('/users/{user_id}/sessions', {
      params: { user_id },
      query: { page, per_page: PER_PAGE },
    }),
  )
  return (
    <>
      <Failed error={error} again={again} />
      <SessionTable
        caption={t.sessionsTitle(email)}
        sessions={data?.items}
        end={async (session_id, idempotencyKey) => {
          await api.delete('/users/{user_id}/sessions/{session_id}', {
            params: { user_id, session_id },
            idempotencyKey,
          })
          forget('people sessions')
        }}
      />
      {data && (
        <Pager
          caption={t.sessionsTitle(email)}
          page={page}
          perPage={PER_PAGE}
          total={data.pagination.total}
          shown={data.items.length}
          change={setPage}
        />
      )}
    </>
  )
}

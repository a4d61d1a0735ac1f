import { useQuery } from '../../lib/query.ts'
import { Source } from '../../ui/details.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Failed } from '../../ui/failed.tsx'
import { api } from '../api.ts'
import { t } from './words.ts'

/** The header of a queued message; the API has no body to show. */
export const Headers = ({ id, open, onClose }: { id: string; open: boolean; onClose(): void }) => (
  <Dialog title={t.headersOf(id)} open={open} onClose={onClose}>
    {open && <Fields id={id} />}
  </Dialog>
)

function Fields({ id }: { id: string }) {
  const { data, error, again } = useQuery(`queue message ${id}`, () =>
    api.get('/queue/message/{queue_id}', { params: { queue_id: id } }),
  )
  return (
    <>
      <Failed error={error} again={again} />
      {data && (
        <Source
          label={t.headersOf(id)}
          text={data.headers.map(({ name, value }) => `${name}: ${value}`).join('\n')}
        />
      )}
    </>
  )
}

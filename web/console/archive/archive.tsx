import type { ArchiveSpoolStatus } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { useQuery } from '../../lib/query.ts'
import { Failed } from '../../ui/failed.tsx'
import { Bytes, Card, Empty, Facts, Heading, Text, Time } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { api } from '../api.ts'
import { t as titles } from '../titles.words.ts'
import { t } from './words.ts'

const REFRESH_SECONDS = 30

const columns: Column<ArchiveSpoolStatus['spools'][number]>[] = [
  { title: t.host, cell: ({ host }) => <Text>{host}</Text> },
  { title: t.messages, number: true, cell: ({ messages }) => number(messages) },
  { title: t.size, number: true, minor: true, cell: ({ bytes }) => <Bytes value={bytes} /> },
  { title: t.oldest, minor: true, cell: ({ oldest_at }) => <Time iso={oldest_at} /> },
  { title: t.failures, number: true, cell: ({ failures }) => number(failures) },
  {
    title: t.problem,
    cell: ({ problem }) => (
      <span class="wrong" lang="en">
        <Text>{problem}</Text>
      </span>
    ),
  },
  { title: t.seen, minor: true, cell: ({ seen_at }) => <Time iso={seen_at} /> },
]

/** Uploads that wait, and the last check of the stored messages. */
export function Archive() {
  const { data, error, again } = useQuery('archive spool', () => api.get('/archive/spool'), {
    everySeconds: REFRESH_SECONDS,
  })
  const check = data?.last_check
  return (
    <>
      <Heading title={titles.archive} />
      <Failed error={error} again={again} />
      {data && (
        <Card>
          <Facts
            facts={[
              {
                name: t.storage,
                value: data.storage_type ? t.stores[data.storage_type] : t.noStorage,
              },
              { name: t.deletions, value: number(data.deletions) },
              {
                name: t.check,
                value: <Time iso={check?.finished_at ?? check?.begun_at} />,
                note: check && t.checked(number(check.checked)),
              },
              {
                name: t.damaged,
                value: check ? number(check.damaged) : '–',
                tone: check && check.damaged > 0 ? 'bad' : '',
              },
            ]}
          />
        </Card>
      )}
      <Card title={t.spools} flush>
        <Table
          caption={t.spools}
          columns={columns}
          rows={data?.spools}
          rowKey={({ spool_id }) => spool_id}
          expected={2}
          empty={<Empty title={t.none} />}
        />
      </Card>
    </>
  )
}

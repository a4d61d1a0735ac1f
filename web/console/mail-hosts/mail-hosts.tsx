import { useState } from 'preact/hooks'
import type { MailHost } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { AddButton } from '../../ui/buttons.tsx'
import { ListTable, useList } from '../../ui/list.tsx'
import { Badge, Empty, Heading, Text } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { HostActions } from './host-actions.tsx'
import { HostDialog } from './host-dialog.tsx'
import { t } from './words.ts'

/** The figures of a drain change with every move. */
const REFRESH_SECONDS = 10
const TONES = { active: 'good', draining: 'info', away: 'warn' } as const

export const HostTabs = () => (
  <Tabs
    label={t.title}
    tabs={[
      ['/console/mail-hosts', t.title],
      ['/console/mail-hosts/moves', t.moves],
    ]}
  />
)

const columns: Column<MailHost>[] = [
  {
    title: t.name,
    cell: ({ name, address }) => (
      <>
        <Text>{name}</Text>
        <small class="under">
          <Text>{address}</Text>
        </small>
      </>
    ),
  },
  { title: t.role, minor: true, cell: ({ roles }) => roles.map((one) => t.roles[one]).join(', ') },
  { title: t.state, cell: ({ state }) => <Badge tone={TONES[state]}>{t.states[state]}</Badge> },
  { title: t.mailboxes, number: true, cell: ({ mailboxes }) => number(mailboxes) },
  {
    title: t.openMoves,
    number: true,
    minor: true,
    cell: ({ id, open_moves }) => (
      <a href={`/console/mail-hosts/moves?host_id=${id}`}>{number(open_moves)}</a>
    ),
  },
  { title: common.actions, quiet: true, cell: (host) => <HostActions host={host} /> },
]

export function MailHosts() {
  const may = useMay()
  const [adding, setAdding] = useState(false)
  const list = useList({
    name: 'mail-hosts',
    sort: '',
    read: ({ page, per_page }) => api.get('/platform/mail-hosts', { query: { page, per_page } }),
    everySeconds: REFRESH_SECONDS,
  })
  const add = may<'POST /platform/mail-hosts'>('admin') && (
    <AddButton onClick={() => setAdding(true)}>{t.add}</AddButton>
  )
  return (
    <>
      <Heading title={t.title}>{add}</Heading>
      <HostTabs />
      <ListTable
        list={list}
        caption={t.title}
        columns={columns}
        rowKey={({ id }) => id}
        empty={
          <Empty title={t.none} action={add}>
            {t.noneHint}
          </Empty>
        }
      />
      <HostDialog open={adding} onClose={() => setAdding(false)} />
    </>
  )
}

import { useState } from 'preact/hooks'
import type { WarmUpSchedule } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { AddButton } from '../../ui/buttons.tsx'
import { ListTable, useList } from '../../ui/list.tsx'
import { Badge, Empty, Heading, Usage } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { OrganizationLink } from '../organization-link.tsx'
import { ReputationTabs } from './tabs.tsx'
import { AddWarmUp, WarmUpActions } from './warm-up-actions.tsx'
import { t } from './words.ts'

const columns: Column<WarmUpSchedule>[] = [
  { title: t.address, cell: ({ ip_address }) => <code>{ip_address}</code> },
  {
    title: t.organization,
    minor: true,
    cell: ({ organization_id }) =>
      organization_id ? <OrganizationLink id={organization_id} /> : t.allOthers,
  },
  {
    title: t.progress,
    cell: (one) => (
      <>
        <State {...one} />
        <small class="under">
          {t.dayOf(number(Math.min(one.day, one.warmup_days)), number(one.warmup_days))}
        </small>
      </>
    ),
  },
  {
    title: t.today,
    minor: true,
    cell: ({ ip_address, sent_today, today_limit }) => (
      <Usage used={sent_today} limit={today_limit} label={t.todayOf(ip_address)} show={number} />
    ),
  },
  { title: t.waiting, number: true, minor: true, cell: ({ waiting }) => number(waiting) },
  {
    title: t.target,
    number: true,
    minor: true,
    cell: ({ target_daily_volume }) => number(target_daily_volume),
  },
  { title: common.actions, quiet: true, cell: (one) => <WarmUpActions warmUp={one} /> },
]

const State = ({ completed, paused_at }: WarmUpSchedule) =>
  completed ? (
    <Badge tone="good">{t.finished}</Badge>
  ) : paused_at ? (
    <Badge tone="warn">{t.paused}</Badge>
  ) : (
    <Badge tone="info">{t.running}</Badge>
  )

export function WarmUps() {
  const may = useMay()
  const [adding, setAdding] = useState(false)
  const list = useList<WarmUpSchedule>({
    name: 'reputation warm-ups',
    sort: '',
    read: ({ page, per_page }) => api.get('/reputation/warm-ups', { query: { page, per_page } }),
  })
  const add = may<'POST /reputation/warm-ups'>('operator') && (
    <AddButton onClick={() => setAdding(true)}>{t.addWarmUp}</AddButton>
  )
  return (
    <>
      <Heading title={t.warmUps}>{add}</Heading>
      <ReputationTabs />
      <ListTable
        list={list}
        caption={t.warmUps}
        columns={columns}
        rowKey={({ ip_address }) => ip_address}
        empty={
          <Empty title={t.noWarmUps} action={add}>
            {t.noWarmUpsHint}
          </Empty>
        }
      />
      <AddWarmUp open={adding} onClose={() => setAdding(false)} />
    </>
  )
}

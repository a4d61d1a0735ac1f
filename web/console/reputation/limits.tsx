import { useState } from 'preact/hooks'
import type { DestinationLimit } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { AddButton } from '../../ui/buttons.tsx'
import { ConfirmByNameWithReason } from '../../ui/confirm.tsx'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { ListTable, useList } from '../../ui/list.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { Badge, Empty, Heading, Text } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { ReasonField } from '../fields.tsx'
import { ReputationTabs } from './tabs.tsx'
import { t } from './words.ts'

const nameOf = (domain: string) => (domain === 'default' ? t.defaultLimit : domain)

const columns: Column<DestinationLimit>[] = [
  { title: t.destination, cell: ({ domain }) => <Text>{nameOf(domain)}</Text> },
  { title: t.hourly, number: true, cell: ({ hourly_limit }) => number(hourly_limit) },
  { title: t.daily, number: true, minor: true, cell: ({ daily_limit }) => number(daily_limit) },
  { title: t.waiting, number: true, minor: true, cell: ({ waiting }) => number(waiting) },
  {
    title: t.source,
    minor: true,
    cell: ({ is_built_in }) => (
      <Badge tone={is_built_in ? '' : 'info'}>{is_built_in ? t.builtIn : t.setHere}</Badge>
    ),
  },
  { title: common.actions, quiet: true, cell: (one) => <Actions limit={one} /> },
]

export function Limits() {
  const may = useMay()
  const [adding, setAdding] = useState(false)
  const enforced = useQuery('reputation limits state', () =>
    api.get('/reputation/isp-limits', { query: { per_page: 1 } }),
  ).data
  const list = useList<DestinationLimit>({
    name: 'reputation limits',
    sort: '',
    read: ({ page, per_page }) => api.get('/reputation/isp-limits', { query: { page, per_page } }),
  })
  return (
    <>
      <Heading title={t.limits}>
        {may<'PUT /reputation/isp-limits/{domain}'>('operator') && (
          <AddButton onClick={() => setAdding(true)}>{t.addLimit}</AddButton>
        )}
      </Heading>
      <ReputationTabs />
      {enforced?.note && (
        <p class="note warn gap" lang="en">
          {enforced.note}
        </p>
      )}
      <ListTable
        list={list}
        caption={t.limits}
        columns={columns}
        rowKey={({ domain }) => domain}
        empty={<Empty title={t.noLimits} />}
      />
      <LimitDialog open={adding} onClose={() => setAdding(false)} />
    </>
  )
}

function LimitDialog({
  limit,
  ...dialog
}: {
  limit?: DestinationLimit
  open: boolean
  onClose(): void
}) {
  return (
    <FormDialog
      {...dialog}
      title={limit ? t.limitTitle(nameOf(limit.domain)) : t.addLimit}
      submit={common.save}
      onSubmit={async (values, idempotencyKey) => {
        const domain = limit?.domain ?? values.text('domain')
        const given = (name: string) => {
          const value = values.number(name)
          return value === undefined ? {} : { [name]: value }
        }
        await api.put('/reputation/isp-limits/{domain}', {
          params: { domain },
          body: {
            ...given('hourly_limit'),
            ...given('daily_limit'),
            ...given('burst_limit'),
            ...given('delay_ms'),
            reason: values.text('reason'),
          },
          idempotencyKey,
        })
        forget('reputation limits')
        toast(t.limitSaved(nameOf(domain)))
      }}
    >
      {!limit && (
        <Field
          label={t.destination}
          name="domain"
          required
          hint={t.destinationHint}
          autocomplete="off"
        />
      )}
      <Amount label={t.hourly} name="hourly_limit" value={limit?.hourly_limit} />
      <Amount label={t.daily} name="daily_limit" value={limit?.daily_limit} />
      <Amount label={t.burst} name="burst_limit" value={limit?.burst_limit} />
      <Amount label={t.delay} name="delay_ms" value={limit?.delay_ms} max={60_000} />
      <ReasonField />
    </FormDialog>
  )
}

const Amount = ({
  label,
  name,
  value,
  max = 100_000_000,
}: {
  label: string
  name: string
  value: number | undefined
  max?: number
}) => (
  <Field
    label={label}
    name={name}
    type="number"
    min={0}
    max={max}
    value={value}
    {...(name !== 'delay_ms' && { hint: t.perOrganization })}
  />
)

function Actions({ limit }: { limit: DestinationLimit }) {
  const may = useMay()
  const [open, setOpen] = useState<'change' | 'reset'>()
  const { domain, is_built_in } = limit
  const name = nameOf(domain)
  const dialog = (which: typeof open) => ({
    open: open === which,
    onClose: () => setOpen(undefined),
  })
  if (!may<'PUT /reputation/isp-limits/{domain}'>('operator')) return null
  return (
    <>
      <Menu name={common.actionsFor(name)}>
        <MenuItem onClick={() => setOpen('change')}>{t.change}</MenuItem>
        {!is_built_in && <MenuItem onClick={() => setOpen('reset')}>{t.reset}</MenuItem>}
      </Menu>
      <LimitDialog limit={limit} {...dialog('change')} />
      <ConfirmByNameWithReason
        name={name}
        {...dialog('reset')}
        kind="limit"
        title={t.resetTitle(name)}
        submit={t.reset}
        onConfirm={async (reason, idempotencyKey) => {
          await api.delete('/reputation/isp-limits/{domain}', {
            params: { domain },
            body: { reason },
            idempotencyKey,
          })
          forget('reputation limits')
          toast(t.limitRemoved(name))
        }}
      >
        <p>{t.resetHint}</p>
      </ConfirmByNameWithReason>
    </>
  )
}

import { useState } from 'preact/hooks'
import type { OrganizationListItem } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { AddButton } from '../../ui/buttons.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { Badge, Empty, Heading, Text, Time, Usage } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t } from './words.ts'

const columns: Column<OrganizationListItem>[] = [
  {
    title: t.name,
    sort: 'name',
    cell: ({ id, name }) => (
      <a href={`/console/organizations/${encodeURIComponent(id)}`}>
        <Text>{name}</Text>
      </a>
    ),
  },
  {
    title: t.status,
    cell: ({ active }) => (
      <Badge tone={active ? 'good' : 'bad'}>{active ? t.active : t.suspended}</Badge>
    ),
  },
  {
    title: t.domains,
    sort: 'domain_count',
    number: true,
    cell: ({ domain_count }) => number(domain_count),
  },
  {
    title: t.mailboxes,
    sort: 'email_account_count',
    number: true,
    minor: true,
    cell: ({ email_account_count }) => number(email_account_count),
  },
  {
    title: t.storage,
    sort: 'total_storage_used',
    minor: true,
    cell: ({ name, total_storage_used, storage_quota }) => (
      <Usage used={total_storage_used} limit={storage_quota} label={t.storageOf(name)} />
    ),
  },
  {
    title: t.created,
    sort: 'created_at',
    minor: true,
    cell: ({ created_at }) => <Time iso={created_at} form="date" />,
  },
  { title: common.actions, quiet: true, cell: (one) => <Actions organization={one} /> },
]

export function Organizations() {
  const may = useMay()
  const [adding, setAdding] = useState(false)
  const list = useList({
    name: 'organizations',
    sort: 'name',
    filters: ['active'],
    read: ({ q, page, per_page, sort, dir, filters }) =>
      api.get('/organizations/', {
        query: {
          q,
          page,
          per_page,
          sort_by: sort as 'name',
          sort_dir: dir,
          ...(filters.active && { active: filters.active === 'true' }),
        },
      }),
  })
  const add = may<'POST /organizations/'>('admin') && (
    <AddButton onClick={() => setAdding(true)}>{t.add}</AddButton>
  )
  return (
    <>
      <Heading title={t.title}>{add}</Heading>
      <SearchBar list={list} label={t.search}>
        <Choice
          label={t.anyStatus}
          value={list.asked.filters.active}
          options={[
            ['true', t.active],
            ['false', t.suspended],
          ]}
          change={(active) => list.set({ active })}
        />
      </SearchBar>
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
      <AddOrganization open={adding} onClose={() => setAdding(false)} />
    </>
  )
}

const AddOrganization = (dialog: { open: boolean; onClose(): void }) => (
  <FormDialog
    {...dialog}
    title={t.add}
    submit={t.add}
    onSubmit={async (values, idempotencyKey) => {
      const name = values.text('name')
      await api.post('/organizations/', {
        body: {
          id: values.text('id'),
          name,
          admin_email: values.optional('admin_email'),
        },
        idempotencyKey,
      })
      forget('organizations')
      toast(t.added(name))
    }}
  >
    <Field label={t.name} name="name" required autocomplete="off" />
    <Field label={t.id} name="id" required maxLength={26} hint={t.idHint} autocomplete="off" />
    <Field
      label={t.adminEmail}
      name="admin_email"
      type="email"
      hint={t.adminEmailHint}
      autocomplete="off"
    />
  </FormDialog>
)

type Suspendable = Pick<OrganizationListItem, 'id' | 'name' | 'active'>

/** The actions on an organization, in the list and on its page. */
export function Actions({ organization }: { organization: Suspendable }) {
  const may = useMay()
  const [open, setOpen] = useState(false)
  const { id, name, active } = organization
  const setActive = async (on: boolean, idempotencyKey?: string) => {
    await api.put('/organizations/{organization_id}', {
      params: { organization_id: id },
      body: { active: on },
      ...(idempotencyKey && { idempotencyKey }),
    })
    forget('organization')
    toast(t.changed(name), () => setActive(!on))
  }
  if (!may<'PUT /organizations/{organization_id}'>('write')) return null
  return (
    <>
      <Menu name={common.actionsFor(name)}>
        <MenuItem onClick={() => setOpen(true)}>{active ? t.suspend : t.activate}</MenuItem>
      </Menu>
      <Confirm
        open={open}
        onClose={() => setOpen(false)}
        title={active ? t.suspendTitle(name) : t.activateTitle(name)}
        submit={active ? t.suspend : t.activate}
        danger={active}
        onConfirm={(idempotencyKey) => setActive(!active, idempotencyKey)}
      >
        <p>{active ? t.suspendHint : t.activateHint}</p>
      </Confirm>
    </>
  )
}

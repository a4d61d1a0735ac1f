import { useState } from 'preact/hooks'
import type { UrlClick, UrlEntry } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { AddButton, RowButton } from '../../ui/buttons.tsx'
import { Failed } from '../../ui/failed.tsx'
import { CheckBox, Field, Select } from '../../ui/field.tsx'
import { Form, FormDialog } from '../../ui/form.tsx'
import { ListTable, useList } from '../../ui/list.tsx'
import { Badge, Card, Empty, Heading, Text, Time } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as words } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t as titles } from '../titles.words.ts'
import { t } from './words.ts'

const kinds = Object.entries(t.types)
const tones = { safe: '', suspicious: 'warn', blocked: 'bad' } as const

async function add(
  body: Pick<UrlEntry, 'entry_type' | 'entry' | 'reason'>,
  idempotencyKey?: string,
) {
  const { entry } = await api.post('/url-protection/blocklist', {
    body,
    ...(idempotencyKey && { idempotencyKey }),
  })
  forget('links')
  return entry
}

async function remove(one: UrlEntry) {
  await api.delete('/url-protection/blocklist/{entry_id}', { params: { entry_id: one.id } })
  forget('links')
  toast(t.removed(one.entry), () => add(one))
}

const entryColumns = (mayWrite: boolean): Column<UrlEntry>[] => [
  { title: t.entry, cell: ({ entry }) => <Text>{entry}</Text> },
  { title: t.type, cell: ({ entry_type }) => t.types[entry_type] },
  { title: t.note, minor: true, cell: ({ reason }) => <Text>{reason}</Text> },
  {
    title: words.actions,
    quiet: true,
    cell: (one) =>
      mayWrite && (
        <RowButton name={one.entry} onClick={() => remove(one)}>
          {t.remove}
        </RowButton>
      ),
  },
]

const clickColumns: Column<UrlClick>[] = [
  { title: words.when, cell: ({ clicked_at }) => <Time iso={clicked_at} /> },
  { title: t.entry, cell: ({ url }) => <Text>{url}</Text> },
  {
    title: t.verdict,
    cell: ({ scan_result }) => <Badge tone={tones[scan_result]}>{t.verdicts[scan_result]}</Badge>,
  },
]

export function Links() {
  const mayWrite = useMay()<'POST /url-protection/blocklist'>('write')
  const [adding, setAdding] = useState(false)
  const list = useList({
    name: 'links',
    sort: '',
    read: ({ page, per_page }) =>
      api.get('/url-protection/blocklist', { query: { page, per_page } }),
  })
  const clicks = useQuery('link clicks', () =>
    api.get('/url-protection/clicks', { query: { per_page: 25 } }),
  )
  const button = mayWrite && <AddButton onClick={() => setAdding(true)}>{t.add}</AddButton>
  return (
    <>
      <Heading title={titles.links}>{button}</Heading>
      <Switch mayWrite={mayWrite} />
      <ListTable
        list={list}
        caption={titles.links}
        columns={entryColumns(mayWrite)}
        rowKey={({ id }) => id}
        empty={
          <Empty title={t.none} action={button}>
            {t.noneHint}
          </Empty>
        }
      />
      <Card title={t.clicks} flush>
        <Failed error={clicks.error} again={clicks.again} />
        <Table
          caption={t.clicks}
          columns={clickColumns}
          rows={clicks.data?.items}
          rowKey={({ id }) => id}
          empty={<Empty title={t.noClicks}>{t.noClicksHint}</Empty>}
        />
      </Card>
      <FormDialog
        title={t.add}
        open={adding}
        onClose={() => setAdding(false)}
        submit={t.add}
        onSubmit={async (values, idempotencyKey) => {
          const entry_type = values.text('entry_type') as UrlEntry['entry_type']
          const body = {
            entry_type,
            entry: values.text('entry'),
            reason: values.optional('reason'),
          }
          toast(t.added(await add(body, idempotencyKey)))
        }}
      >
        <Select label={t.type} name="entry_type" options={kinds} />
        <Field label={t.entry} name="entry" autocomplete="off" required />
        <Field label={t.note} name="reason" autocomplete="off" />
      </FormDialog>
    </>
  )
}

function Switch({ mayWrite }: { mayWrite: boolean }) {
  const { data, error, again } = useQuery('link settings', () =>
    api.get('/url-protection/settings'),
  )
  return (
    <Card>
      <p class="muted prose">{t.hint}</p>
      <Failed error={error} again={again} />
      {data && (
        <Form
          submit={words.save}
          disabled={!mayWrite}
          onSubmit={async (values, idempotencyKey) => {
            const body = { enabled: values.checked('enabled') }
            await api.put('/url-protection/settings', { body, idempotencyKey })
            forget('link settings')
            toast(t.saved)
          }}
        >
          <CheckBox label={t.on} name="enabled" checked={data.enabled} />
        </Form>
      )}
    </Card>
  )
}

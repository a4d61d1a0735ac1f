import { useState } from 'preact/hooks'
import type { DkimKey } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { RowButton } from '../../ui/buttons.tsx'
import { ConfirmWithReason } from '../../ui/confirm.tsx'
import { Copy } from '../../ui/copy.tsx'
import { Failed } from '../../ui/failed.tsx'
import { CheckBox } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { Badge, Card, Empty, Time } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { ReasonField } from '../fields.tsx'
import { t } from './words.ts'

interface Props {
  domain: { id: string; domain: string }
}

export function DkimKeys({ domain }: Props) {
  const may = useMay()
  const [rotating, setRotating] = useState(false)
  const params = { domain_id: domain.id }
  const { data, error, again } = useQuery(`domain ${domain.id} dkim`, () =>
    api.get('/domains/{domain_id}/dkim', { params }),
  )
  const rotate = may<'POST /domains/{domain_id}/dkim/rotate'>('operator') && (
    <button type="button" class="small" onClick={() => setRotating(true)}>
      {t.rotate}
    </button>
  )
  const columns: Column<DkimKey>[] = [
    { title: t.selector, cell: ({ selector }) => <code>{selector}</code> },
    { title: t.keyState, cell: (key) => <KeyState dkim={key} /> },
    {
      title: t.algorithm,
      minor: true,
      cell: ({ algorithm, key_size }) => `${algorithm} ${key_size}`,
    },
    {
      title: t.record,
      cell: ({ selector, record_name, record_value }) => (
        <div class="copyable">
          <code>{record_name}</code>
          <Copy text={record_value} label={t.recordOf(selector)} />
        </div>
      ),
    },
    {
      title: t.created,
      minor: true,
      cell: ({ created_at }) => <Time iso={created_at} form="date" />,
    },
    {
      title: common.actions,
      quiet: true,
      cell: (key) => !key.active && <Activate domain={domain} selector={key.selector} />,
    },
  ]
  return (
    <Card title={t.dkim} flush actions={rotate}>
      <Failed error={error} again={again} />
      <Table
        caption={t.dkim}
        columns={columns}
        rows={data?.items}
        expected={1}
        rowKey={({ selector }) => selector}
        empty={<Empty title={t.noKeys}>{t.noKeysHint}</Empty>}
      />
      <ConfirmWithReason
        kind="dkim"
        open={rotating}
        onClose={() => setRotating(false)}
        title={t.rotateTitle}
        submit={t.rotate}
        onConfirm={async (reason, idempotencyKey) => {
          const { selector } = await api.post('/domains/{domain_id}/dkim/rotate', {
            params,
            body: { reason },
            idempotencyKey,
          })
          forget('domain')
          toast(t.rotated(selector))
        }}
      >
        <p>{t.rotateHint}</p>
      </ConfirmWithReason>
    </Card>
  )
}

function KeyState({ dkim }: { dkim: DkimKey }) {
  if (dkim.active) return <Badge tone="good">{t.signs}</Badge>
  return dkim.retired_at ? <Badge>{t.retired}</Badge> : <Badge tone="warn">{t.waiting}</Badge>
}

function Activate({ domain, selector }: Props & { selector: string }) {
  const may = useMay()
  const [open, setOpen] = useState(false)
  if (!may<'POST /domains/{domain_id}/dkim/{selector}/activate'>('operator')) return null
  return (
    <>
      <RowButton name={selector} onClick={() => setOpen(true)}>
        {t.activate}
      </RowButton>
      <FormDialog
        open={open}
        onClose={() => setOpen(false)}
        title={t.activateTitle(selector)}
        submit={t.activate}
        onSubmit={async (values, idempotencyKey) => {
          await api.post('/domains/{domain_id}/dkim/{selector}/activate', {
            params: { domain_id: domain.id, selector },
            body: { reason: values.text('reason'), force: values.checked('force') },
            idempotencyKey,
          })
          forget('domain')
          toast(t.activated(selector))
        }}
      >
        <p class="prose">{t.activateHint}</p>
        <CheckBox label={t.force} name="force" hint={t.forceHint} />
        <ReasonField />
      </FormDialog>
    </>
  )
}

import { useState } from 'preact/hooks'
import type { DkimKey } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useAction, useQuery } from '../../lib/query.ts'
import { Confirm, ConfirmByName } from '../../ui/confirm.tsx'
import { Value } from '../../ui/dns-records.tsx'
import { t as dns } from '../../ui/dns-records.words.ts'
import { Failed } from '../../ui/failed.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { Badge, Card, Time } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t } from './dkim.words.ts'

const reload = () => {
  forget('dkim')
  forget('domain')
}

/** The keys of a domain: which one signs, which waits for its record, and the way to change it. */
export function Dkim({ domainId }: { domainId: string }) {
  const may = useMay()
  const params = { domain_id: domainId }
  const { data, error, again } = useQuery(`dkim ${domainId}`, () =>
    api.get('/domains/{domain_id}/dkim-keys', { params }),
  )
  const make = useAction(async (idempotencyKey) => {
    const { selector } = await api.post('/domains/{domain_id}/dkim-keys', {
      params,
      idempotencyKey,
    })
    reload()
    toast(t.made(selector))
  })
  const turnOn = useAction(async (idempotencyKey) => {
    await api.put('/domains/{domain_id}', { params, body: { dkim_enabled: true }, idempotencyKey })
    reload()
    toast(t.turnedOn)
  })
  const isOff = data?.dkim_enabled === false
  const hasSigner = data?.items.some(({ active }) => active)
  return (
    <Card
      title={t.title}
      flush
      actions={
        <>
          {isOff && may<'PUT /domains/{domain_id}'>('write') && (
            <button
              type="button"
              class="small primary"
              disabled={turnOn.busy}
              onClick={() => void turnOn.run()}
            >
              {t.turnOn}
            </button>
          )}
          {data && may<'POST /domains/{domain_id}/dkim-keys'>('admin') && (
            <button
              type="button"
              class="small"
              disabled={make.busy}
              onClick={() => void make.run()}
            >
              {t.make}
            </button>
          )}
        </>
      }
    >
      <div class="pad prose">
        <Failed error={error ?? make.error ?? turnOn.error} again={error && again} />
        {data && <p>{isOff ? t.off : hasSigner ? t.hint : t.noKey}</p>}
      </div>
      <div class="records">
        <Table
          caption={t.title}
          rows={data?.items ?? []}
          rowKey={({ selector }) => selector}
          columns={[
            {
              title: t.key,
              cell: ({ selector, created_at }) => (
                <>
                  <code>{selector}</code>
                  <div class="hint">
                    {t.created} <Time iso={created_at} />
                  </div>
                </>
              ),
            },
            {
              title: dns.name,
              cell: ({ selector, record_name }) => (
                <Value text={record_name} label={dns.nameOf(selector)} />
              ),
            },
            {
              title: dns.value,
              cell: ({ selector, record_value, retired_at }) => (
                <>
                  <Value text={record_value} label={dns.valueOf(selector)} />
                  {retired_at && <div class="hint">{t.retiredHint}</div>}
                </>
              ),
            },
            { title: dns.now, cell: (key) => <State dkim={key} isOff={isOff} /> },
            {
              title: common.actions,
              quiet: true,
              cell: (key) => !key.active && <Actions domainId={domainId} dkim={key} />,
            },
          ]}
        />
      </div>
    </Card>
  )
}

function State({ dkim, isOff }: { dkim: DkimKey; isOff: boolean }) {
  if (dkim.active) return isOff ? <Badge>{t.paused}</Badge> : <Badge tone="good">{t.signing}</Badge>
  if (dkim.retired_at === null) return <Badge tone="warn">{t.waiting}</Badge>
  return (
    <>
      <Badge>{t.retired}</Badge>
      <div class="hint">
        <Time iso={dkim.retired_at} />
      </div>
    </>
  )
}

function Actions({ domainId, dkim }: { domainId: string; dkim: DkimKey }) {
  const may = useMay()
  const [open, setOpen] = useState<'activate' | 'delete'>()
  const { selector } = dkim
  const params = { domain_id: domainId, selector }
  const dialog = (name: typeof open) => ({
    open: open === name,
    onClose: () => setOpen(undefined),
  })
  if (!may<'POST /domains/{domain_id}/dkim-keys/{selector}/activate'>('admin')) return null
  return (
    <>
      <Menu name={common.actionsFor(selector)}>
        <MenuItem onClick={() => setOpen('activate')}>{t.activate}</MenuItem>
        {dkim.retired_at === null && (
          <MenuItem danger onClick={() => setOpen('delete')}>
            {t.remove}
          </MenuItem>
        )}
      </Menu>
      <Confirm
        {...dialog('activate')}
        title={t.activateTitle(selector)}
        submit={t.activate}
        onConfirm={async (idempotencyKey) => {
          await api.post('/domains/{domain_id}/dkim-keys/{selector}/activate', {
            params,
            idempotencyKey,
          })
          reload()
          toast(t.activated(selector))
        }}
      >
        <p>{t.activateHint}</p>
      </Confirm>
      <ConfirmByName
        {...dialog('delete')}
        name={selector}
        title={t.removeTitle(selector)}
        submit={t.remove}
        onConfirm={async (idempotencyKey) => {
          await api.delete('/domains/{domain_id}/dkim-keys/{selector}', { params, idempotencyKey })
          reload()
          toast(t.removed(selector))
        }}
      >
        <p>{t.removeHint}</p>
      </ConfirmByName>
    </>
  )
}

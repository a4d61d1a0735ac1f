import { useState } from 'preact/hooks'
import type { AcmeAccount, Certificate } from '../../api/schema.ts'
import { number, percent } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { RowButton } from '../../ui/buttons.tsx'
import { ConfirmWithReason } from '../../ui/confirm.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Card, Empty, Facts, Heading, Text, Time } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t as titles } from '../titles.words.ts'
import { t } from './words.ts'

const SOON_DAYS = 30
const TONES = {
  active: 'good',
  expired: 'bad',
  revoked: '',
  pending: 'info',
  failed: 'bad',
} as const

const columns: Column<Certificate>[] = [
  {
    title: t.domain,
    sort: 'domain',
    cell: ({ domain, error_message }) => (
      <>
        <Text>{domain}</Text>
        {error_message && (
          <div class="wrong" lang="en">
            <Text>{error_message}</Text>
          </div>
        )}
      </>
    ),
  },
  {
    title: t.status,
    sort: 'status',
    cell: ({ status }) => <Badge tone={TONES[status]}>{t.statuses[status]}</Badge>,
  },
  {
    title: t.until,
    sort: 'valid_until',
    cell: ({ valid_until, days_until_expiry: days, status }) =>
      status === 'active' && days !== null && days <= SOON_DAYS ? (
        <Badge tone="warn">
          <Time iso={valid_until} />
        </Badge>
      ) : (
        <Time iso={valid_until} />
      ),
  },
  {
    title: t.organization,
    minor: true,
    cell: ({ organization_name }) => <Text>{organization_name ?? '–'}</Text>,
  },
  { title: t.issuer, minor: true, cell: ({ issuer }) => <Text>{issuer ?? '–'}</Text> },
  {
    title: t.renewal,
    minor: true,
    cell: ({ auto_renew }) => (auto_renew ? t.auto : t.byHand),
  },
  { title: common.actions, quiet: true, cell: ({ domain }) => <Renew domain={domain} /> },
]

function Renew({ domain }: { domain: string }) {
  const may = useMay()
  const [open, setOpen] = useState(false)
  if (!may<'POST /ssl/certificates/{domain}/renew'>('operator')) return null
  return (
    <>
      <RowButton name={domain} onClick={() => setOpen(true)}>
        {t.renew}
      </RowButton>
      <ConfirmWithReason
        kind="renew"
        open={open}
        onClose={() => setOpen(false)}
        title={t.renewTitle(domain)}
        submit={t.renew}
        onConfirm={async (reason, idempotencyKey) => {
          await api.post('/ssl/certificates/{domain}/renew', {
            params: { domain },
            body: { reason },
            idempotencyKey,
          })
          forget('certificates')
          toast(t.renewed(domain))
        }}
      >
        <p>{t.renewHint}</p>
      </ConfirmWithReason>
    </>
  )
}

const accountColumns: Column<AcmeAccount>[] = [
  { title: t.email, cell: ({ email }) => <Text>{email}</Text> },
  { title: t.issued, number: true, cell: ({ certs_issued }) => number(certs_issued) },
  {
    title: t.rate,
    number: true,
    cell: ({ success_rate }) => (success_rate === null ? '–' : percent(success_rate / 100)),
  },
  { title: t.lastUsed, minor: true, cell: ({ last_used }) => <Time iso={last_used} /> },
]

export function Certificates() {
  const state = useQuery('certificates state', () =>
    api.get('/ssl/status', { query: { include_accounts: true } }),
  )
  const list = useList({
    name: 'certificates list',
    sort: 'valid_until',
    filters: ['status'],
    read: ({ q, page, per_page, sort, dir, filters }) =>
      api.get('/ssl/certificates', {
        query: {
          domain: q,
          page,
          per_page,
          sort_by: sort as 'valid_until',
          sort_dir: dir,
          ...(filters.status && { status: filters.status as 'active' }),
        },
      }),
  })
  const { data } = state
  return (
    <>
      <Heading title={titles.certificates} />
      <Failed error={state.error} again={state.again} />
      {data?.schema_note && (
        <p class="note warn" lang="en">
          {data.schema_note}
        </p>
      )}
      {data && (
        <Card>
          <Facts
            facts={[
              { name: t.total, value: number(data.certificates.total) },
              {
                name: t.soon,
                value: number(data.certificates.expiring_soon),
                tone: data.certificates.expiring_soon ? 'warn' : '',
              },
              {
                name: t.statuses.failed,
                value: number(data.certificates.failed),
                tone: data.certificates.failed ? 'bad' : '',
              },
              {
                name: t.lastIssued,
                value: <Time iso={data.last_issued.issued_at} />,
                note: data.last_issued.domain && <Text>{data.last_issued.domain}</Text>,
              },
            ]}
          />
        </Card>
      )}
      <SearchBar list={list} label={t.search}>
        <Choice
          label={t.anyStatus}
          value={list.asked.filters.status}
          options={Object.entries(t.statuses)}
          change={(status) => list.set({ status })}
        />
      </SearchBar>
      <ListTable
        list={list}
        caption={titles.certificates}
        columns={columns}
        rowKey={({ id }) => id}
        empty={<Empty title={t.none}>{t.noneHint}</Empty>}
      />
      {data?.acme_accounts && data.acme_accounts.length > 0 && (
        <Card title={t.accounts} flush>
          <Table
            caption={t.accounts}
            columns={accountColumns}
            rows={data.acme_accounts}
            rowKey={({ id }) => id}
          />
        </Card>
      )}
    </>
  )
}

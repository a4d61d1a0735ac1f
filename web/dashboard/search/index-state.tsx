import { useState } from 'preact/hooks'
import type { DomainListItem, RagConfiguration } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { Failed } from '../../ui/failed.tsx'
import { ListTable, useList } from '../../ui/list.tsx'
import { Badge, Card, Empty, Facts, Heading, Text, Time, type Tone } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t as titles } from '../titles.words.ts'
import { DomainActions } from './domain-actions.tsx'
import { SearchSettings } from './settings.tsx'
import { SearchTabs } from './tabs.tsx'
import { t } from './words.ts'

const REFRESH_SECONDS = 15

/** The content of the index by domain, and its settings. */
export function SearchIndex() {
  const me = useQuery('me', () => api.get('/auth/me'))
  const id = me.data?.organization?.id
  return (
    <>
      <Heading title={titles.searchIndex} parent={{ title: titles.search, to: '/app/search' }} />
      <SearchTabs />
      <Failed error={me.error} again={me.again} />
      {id && <OfOrganization id={id} />}
    </>
  )
}

function OfOrganization({ id }: { id: string }) {
  const may = useMay()
  const params = { organization_id: id }
  const config = useQuery('rag config', () =>
    api.get('/rag/organizations/{organization_id}/rag/config', { params }),
  )
  return (
    <>
      <Contents id={id} next={config.data?.next_scheduled_at} />
      <Failed error={config.error} again={config.again} />
      {config.data && (
        <>
          <Domains config={config.data} />
          {may<'PUT /rag/organizations/{organization_id}/rag/config'>('write') && (
            <SearchSettings config={config.data} />
          )}
        </>
      )}
    </>
  )
}

function Contents({ id, next }: { id: string; next: string | null | undefined }) {
  const may = useMay()
  const [open, setOpen] = useState(false)
  const params = { organization_id: id }
  const { data, error, again } = useQuery(
    'rag stats',
    () => api.get('/rag/organizations/{organization_id}/rag/stats', { params }),
    { everySeconds: REFRESH_SECONDS },
  )
  const reindex = may<'POST /rag/organizations/{organization_id}/rag/reindex'>('write') && (
    <button type="button" class="small" onClick={() => setOpen(true)}>
      {t.reindex}
    </button>
  )
  return (
    <>
      <Failed error={error} again={again} />
      {data && (
        <Card title={t.index} actions={reindex}>
          <Facts
            facts={[
              { name: t.documents, value: number(data.documents) },
              { name: t.lastIndexed, value: <Time iso={data.last_indexed_at} /> },
              { name: t.nextRun, value: <Time iso={next} /> },
            ]}
          />
        </Card>
      )}
      <Confirm
        title={t.reindexTitle}
        open={open}
        onClose={() => setOpen(false)}
        submit={t.reindex}
        onConfirm={async (idempotencyKey) => {
          await api.post('/rag/organizations/{organization_id}/rag/reindex', {
            params,
            body: {},
            idempotencyKey,
          })
          forget('rag')
          toast(t.reindexed)
        }}
      >
        <p>{t.reindexHint}</p>
      </Confirm>
    </>
  )
}

function Domains({ config }: { config: RagConfiguration }) {
  const list = useList<DomainListItem>({
    name: 'domains search',
    sort: 'domain',
    read: ({ page, per_page, dir }) =>
      api.get('/domains/', { query: { page, per_page, sort_by: 'domain', sort_dir: dir } }),
  })
  const isIndexed = ({ domain }: DomainListItem) => config.mail_domains.includes(domain)
  return (
    <ListTable
      list={list}
      caption={t.domains}
      rowKey={({ id }) => id}
      columns={[
        {
          title: t.domain,
          sort: 'domain',
          cell: ({ domain_unicode }) => <Text>{domain_unicode}</Text>,
        },
        {
          title: t.mail,
          cell: (row) => (
            <Badge tone={isIndexed(row) ? 'good' : ''}>
              {isIndexed(row) ? t.mailOn : t.mailOff}
            </Badge>
          ),
        },
        { title: t.state, minor: true, cell: ({ domain }) => <State domain={domain} /> },
        {
          title: common.actions,
          quiet: true,
          cell: (row) => (
            <DomainActions domain={row.domain} config={config} isIndexed={isIndexed(row)} />
          ),
        },
      ]}
      empty={<Empty title={t.noDomains}>{t.noDomainsHint}</Empty>}
    />
  )
}

const TONES: Record<keyof typeof t.states, Tone> = {
  never_indexed: '',
  pending: 'info',
  running: 'info',
  complete: 'good',
  failed: 'bad',
}

function State({ domain }: { domain: string }) {
  const { data } = useQuery(
    `rag status ${domain}`,
    () => api.get('/rag/rag/index/status/{domain}', { params: { domain } }),
    { everySeconds: REFRESH_SECONDS },
  )
  if (!data) return <>–</>
  const { status, indexed_emails, total_emails, error } = data
  return (
    <>
      <Badge tone={TONES[status]}>{t.states[status]}</Badge>{' '}
      <span class="muted figure" title={t.indexed}>
        {common.of(number(indexed_emails), number(total_emails))}
      </span>
      {error && (
        <p class="wrong" lang="en">
          <Text>{error}</Text>
        </p>
      )}
    </>
  )
}

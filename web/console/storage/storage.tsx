import { number } from '../../lib/format.ts'
import { useQuery } from '../../lib/query.ts'
import { useQueryState } from '../../lib/router.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Card, Empty, Facts, Heading, Text, Usage } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { api } from '../api.ts'
import { StorageHistory } from './history.tsx'
import { t } from './words.ts'

interface Row {
  name: string
  used: number
  limit: number
}

export function Storage() {
  const [{ domain, mailbox }] = useQueryState('domain', 'mailbox')
  const { data, error, again } = useQuery('storage', () => api.get('/storage/usage/summary'))
  return (
    <>
      <Heading title={t.title} />
      <Failed error={error} again={again} />
      {data && (
        <>
          <Card>
            <Facts
              facts={[
                {
                  name: t.used,
                  value: (
                    <Usage used={data.total_storage_used} limit={data.total_quota} label={t.used} />
                  ),
                },
                { name: t.domains, value: number(data.domain_count), to: '/console/domains' },
                { name: t.mailboxes, value: number(data.account_count) },
              ]}
            />
          </Card>
          {domain && <StorageHistory type="domain" name={domain} />}
          {mailbox && <StorageHistory type="mailbox" name={mailbox} />}
          <Top
            title={t.topDomains}
            what={t.domain}
            of="domain"
            rows={data.top_domains.map(({ domain, storage_used, max_quota }) => ({
              name: domain,
              used: storage_used,
              limit: max_quota,
            }))}
          />
          <Top
            title={t.topMailboxes}
            what={t.mailbox}
            of="mailbox"
            rows={data.top_accounts.map(({ email, storage_used, storage_quota }) => ({
              name: email,
              used: storage_used,
              limit: storage_quota,
            }))}
          />
        </>
      )}
    </>
  )
}

const Top = ({
  title,
  what,
  of,
  rows,
}: {
  title: string
  what: string
  /** The name of the choice in the address. */
  of: 'domain' | 'mailbox'
  rows: Row[]
}) => (
  <Card title={title} flush>
    <Table
      caption={title}
      columns={[
        {
          title: what,
          cell: ({ name }) => (
            <a href={`/console/storage?${of}=${encodeURIComponent(name)}`}>
              <Text>{name}</Text>
            </a>
          ),
        },
        {
          title: t.storage,
          cell: ({ name, used, limit }) => (
            <Usage used={used} limit={limit} label={t.usedBy(name)} />
          ),
        },
      ]}
      rows={rows}
      rowKey={({ name }) => name}
      empty={<Empty title={t.none}>{t.noneHint}</Empty>}
    />
  </Card>
)

import { useState } from 'preact/hooks'
import type { OauthGrant } from '../../api/schema.ts'
import { forget } from '../../lib/query.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { ListTable, useList } from '../../ui/list.tsx'
import { Badge, Empty, Heading, Text, Time } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { LastUse } from '../app-passwords/last-use.tsx'
import { t as passwords } from '../app-passwords/words.ts'
import { t } from './words.ts'

export function Grants() {
  const [ending, setEnding] = useState<OauthGrant>()
  const list = useList<OauthGrant>({
    name: 'grants',
    sort: 'created_at',
    dir: 'desc',
    read: ({ page, per_page }) => api.get('/mailbox/grants', { query: { page, per_page } }),
  })
  const columns: Column<OauthGrant>[] = [
    { title: t.program, cell: ({ client_name }) => <Text>{client_name}</Text> },
    {
      title: t.may,
      cell: ({ scopes }) =>
        scopes
          .filter((scope) => t.scope[scope] !== undefined)
          .map((scope) => <Badge key={scope}>{t.scope[scope]}</Badge>),
    },
    {
      title: t.since,
      minor: true,
      cell: ({ created_at }) => <Time iso={created_at} form="date" />,
    },
    { title: passwords.lastUsed, cell: LastUse },
    {
      title: common.actions,
      quiet: true,
      cell: (one) => (
        <button type="button" class="small" onClick={() => setEnding(one)}>
          {t.end}{' '}
          <span class="hidden">
            <Text>{one.client_name}</Text>
          </span>
        </button>
      ),
    },
  ]
  return (
    <>
      <Heading title={t.title} />
      <p class="prose muted gap">{t.hint}</p>
      <ListTable
        list={list}
        caption={t.title}
        columns={columns}
        rowKey={({ grant_id }) => grant_id}
        empty={<Empty title={t.none}>{t.noneHint}</Empty>}
      />
      <Confirm
        open={ending !== undefined}
        onClose={() => setEnding(undefined)}
        title={t.endTitle(ending?.client_name ?? '')}
        submit={t.end}
        onConfirm={async (idempotencyKey) => {
          if (!ending) return
          const params = { grant_id: ending.grant_id }
          await api.delete('/mailbox/grants/{grant_id}', { params, idempotencyKey })
          forget('grants')
          toast(t.ended(ending.client_name))
        }}
      >
        <p>{t.endHint}</p>
      </Confirm>
    </>
  )
}

import { useState } from 'preact/hooks'
import type { EmailAccountDetail, FilterScript } from '../../../api/schema.ts'
import { useMay } from '../../../lib/may.ts'
import { AddButton } from '../../../ui/buttons.tsx'
import { ListTable, useList } from '../../../ui/list.tsx'
import { Badge, Bytes, Empty, Text, Time } from '../../../ui/page.tsx'
import { t as common } from '../../../ui/words.ts'
import { api } from '../../api.ts'
import { Frame } from '../frame.tsx'
import { type Edited, ScriptEditor } from './editor.tsx'
import { ScriptActions } from './script-actions.tsx'
import { VacationReply } from './vacation.tsx'
import { t } from './words.ts'

export const MailboxFilters = () => (
  <Frame part={t.title}>{(account) => <Filters account={account} />}</Frame>
)

function Filters({ account }: { account: EmailAccountDetail }) {
  const { email } = account
  const may = useMay()
  const [edited, setEdited] = useState<Edited>()
  const list = useList<FilterScript>({
    name: `filters ${email}`,
    sort: 'name',
    read: ({ page, per_page }) => api.get('/filters/', { query: { email, page, per_page } }),
  })
  const mayChange = may<'POST /filters/'>('write')
  const add = (words: string) =>
    mayChange && <AddButton onClick={() => setEdited('new')}>{words}</AddButton>
  return (
    <>
      <div class="bar">
        <p class="muted grow">{t.hint}</p>
        <div>{add(t.add)}</div>
      </div>
      <ListTable
        list={list}
        caption={t.caption}
        rowKey={({ name }) => name}
        columns={[
          { title: t.name, cell: ({ name }) => <Text>{name}</Text> },
          { title: t.state, cell: (script) => <State script={script} /> },
          { title: t.size, number: true, minor: true, cell: ({ size }) => <Bytes value={size} /> },
          {
            title: t.created,
            minor: true,
            cell: ({ created_at }) => (created_at ? <Time iso={created_at} /> : '–'),
          },
          {
            title: common.actions,
            quiet: true,
            cell: (script) => (
              <ScriptActions {...{ email, script }} edit={() => setEdited(script)} />
            ),
          },
        ]}
        empty={
          <Empty title={t.none} action={add(t.addFirst)}>
            {t.noneHint}
          </Empty>
        }
      />
      {mayChange && <VacationReply account={account} />}
      <ScriptEditor email={email} script={edited} onClose={() => setEdited(undefined)} />
    </>
  )
}

const State = ({ script: { active, managed } }: { script: FilterScript }) => (
  <>
    <Badge tone={active ? 'good' : ''}>{active ? t.active : t.idle}</Badge>{' '}
    {managed && <Badge>{t.own}</Badge>}
  </>
)

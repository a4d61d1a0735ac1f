import { useState } from 'preact/hooks'
import type { MailboxMove } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { AddButton, RowButton } from '../../ui/buttons.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Empty, Heading, Text, Time } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { HostTabs } from './mail-hosts.tsx'
import { MoveDialog, useHosts, useTargets } from './move-dialog.tsx'
import { t } from './words.ts'

const REFRESH_SECONDS = 5
const BEFORE_SWITCH = ['waiting', 'copying', 'locked']
const TONES = {
  waiting: '',
  copying: 'info',
  locked: 'info',
  switched: 'info',
  done: 'good',
  failed: 'bad',
  cancelled: '',
} as const

const columns: Column<MailboxMove>[] = [
  {
    title: t.mailbox,
    cell: ({ email, error_message }) => (
      <>
        <Text>{email ?? '–'}</Text>
        {error_message && (
          <div class="wrong" lang="en">
            <Text>{error_message}</Text>
          </div>
        )}
      </>
    ),
  },
  {
    title: t.state,
    cell: ({ state }) => <Badge tone={TONES[state]}>{t.moveStates[state]}</Badge>,
  },
  {
    title: t.fromTo,
    minor: true,
    cell: ({ source, target }) => (
      <>
        <Text>{source}</Text> → <Text>{target}</Text>
      </>
    ),
  },
  {
    title: t.messages,
    number: true,
    minor: true,
    cell: ({ messages }) => (messages === null ? '–' : number(messages)),
  },
  { title: t.started, minor: true, cell: ({ created_at }) => <Time iso={created_at} /> },
  { title: common.actions, quiet: true, cell: (move) => <Cancel {...move} /> },
]

function Cancel({ id, email, state }: MailboxMove) {
  const may = useMay()
  const [open, setOpen] = useState(false)
  const mayCancel = may<'POST /platform/mailbox-moves/{move_id}/cancel'>('operator')
  if (!mayCancel || !BEFORE_SWITCH.includes(state)) return null
  return (
    <>
      <RowButton name={email} onClick={() => setOpen(true)}>
        {t.cancel}
      </RowButton>
      <Confirm
        open={open}
        onClose={() => setOpen(false)}
        title={t.cancelTitle(email ?? '')}
        submit={t.cancel}
        onConfirm={async (idempotencyKey) => {
          await api.post('/platform/mailbox-moves/{move_id}/cancel', {
            params: { move_id: id },
            idempotencyKey,
          })
          forget('mailbox-moves')
          toast(t.cancelled)
        }}
      >
        <p>{t.cancelHint}</p>
      </Confirm>
    </>
  )
}

export function Moves() {
  const [moving, setMoving] = useState(false)
  const hosts = useHosts()
  const list = useList({
    name: 'mailbox-moves',
    sort: '',
    filters: ['state', 'host_id'],
    read: ({ page, per_page, filters: { state, host_id } }) =>
      api.get('/platform/mailbox-moves', {
        query: {
          page,
          per_page,
          ...(state && { state: state as MailboxMove['state'] }),
          ...(host_id && { host_id }),
        },
      }),
    everySeconds: REFRESH_SECONDS,
  })
  const move = useTargets().length > 1 && (
    <AddButton onClick={() => setMoving(true)}>{t.move}</AddButton>
  )
  return (
    <>
      <Heading title={t.moves}>{move}</Heading>
      <HostTabs />
      <SearchBar list={list}>
        <Choice
          label={t.anyState}
          value={list.asked.filters.state}
          options={Object.entries(t.moveStates)}
          change={(state) => list.set({ state })}
        />
        <Choice
          label={t.anyHost}
          value={list.asked.filters.host_id}
          options={hosts.map(({ id, name }) => [id, name])}
          change={(host_id) => list.set({ host_id })}
        />
      </SearchBar>
      <ListTable
        list={list}
        caption={t.moves}
        columns={columns}
        rowKey={({ id }) => id}
        empty={
          <Empty title={t.noMoves} action={move}>
            {t.noMovesHint}
          </Empty>
        }
      />
      <MoveDialog open={moving} onClose={() => setMoving(false)} />
    </>
  )
}

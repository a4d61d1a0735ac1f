import { useState } from 'preact/hooks'
import type { FeedbackLoop } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { RowButton } from '../../ui/buttons.tsx'
import { ConfirmWithReason } from '../../ui/confirm.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Empty, Heading, Text, Time } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { OrganizationLink } from '../organization-link.tsx'
import { ReputationTabs } from './tabs.tsx'
import { t } from './words.ts'

export const complaintColumns: Column<FeedbackLoop>[] = [
  { title: common.when, sort: 'created_at', cell: ({ created_at }) => <Time iso={created_at} /> },
  {
    title: t.sender,
    sort: 'sender',
    cell: ({ sender, subject }) => (
      <>
        <Text>{sender}</Text>
        {subject && (
          <small class="under">
            <Text>{subject}</Text>
          </small>
        )}
      </>
    ),
  },
  {
    title: t.recipient,
    sort: 'original_recipient',
    minor: true,
    cell: ({ original_recipient }) => <Text>{original_recipient || t.unknownRecipient}</Text>,
  },
  {
    title: t.provider,
    sort: 'isp_name',
    minor: true,
    cell: ({ isp_name, feedback_type }) => (
      <>
        <Text>{isp_name}</Text>
        <small class="under">
          <Text>{feedback_type}</Text>
        </small>
      </>
    ),
  },
  {
    title: t.state,
    cell: ({ processed, suppression_added }) => (
      <>
        <Badge tone={processed ? 'good' : 'warn'}>{processed ? t.processed : t.open}</Badge>{' '}
        {suppression_added && <Badge>{t.suppressedNow}</Badge>}
      </>
    ),
  },
]

const columns: Column<FeedbackLoop>[] = [
  ...complaintColumns,
  {
    title: t.organization,
    minor: true,
    cell: ({ organization_id }) => <OrganizationLink id={organization_id} />,
  },
  { title: common.actions, quiet: true, cell: (one) => <Decide report={one} /> },
]

function Decide({ report }: { report: FeedbackLoop }) {
  const may = useMay()
  const [open, setOpen] = useState(false)
  const { id, processed, sender } = report
  if (!may<'PUT /reputation/feedback-loops/{feedback_id}'>('operator')) return null
  const label = processed ? t.reopen : t.process
  return (
    <>
      <RowButton name={sender} onClick={() => setOpen(true)}>
        {label}
      </RowButton>
      <ConfirmWithReason
        kind="feedback"
        open={open}
        onClose={() => setOpen(false)}
        title={processed ? t.reopenTitle : t.processTitle}
        submit={label}
        onConfirm={async (reason, idempotencyKey) => {
          await api.put('/reputation/feedback-loops/{feedback_id}', {
            params: { feedback_id: id },
            body: { processed: !processed, reason },
            idempotencyKey,
          })
          forget('reputation')
          toast(t.changed)
        }}
      >
        <p>{processed ? t.reopenHint : t.processHint}</p>
      </ConfirmWithReason>
    </>
  )
}

export function Feedback() {
  const list = useList({
    name: 'reputation feedback',
    sort: 'created_at',
    dir: 'desc',
    filters: ['processed'],
    read: ({ q, page, per_page, sort, dir, filters }) =>
      api.get('/reputation/feedback-loops', {
        query: {
          q,
          page,
          per_page,
          sort_by: sort as 'created_at',
          sort_dir: dir,
          ...(filters.processed && { processed: filters.processed === 'true' }),
        },
      }),
  })
  return (
    <>
      <Heading title={t.feedback} />
      <ReputationTabs />
      <SearchBar list={list} label={t.searchSender}>
        <Choice
          label={t.anyState}
          value={list.asked.filters.processed}
          options={[
            ['false', t.open],
            ['true', t.processed],
          ]}
          change={(processed) => list.set({ processed })}
        />
      </SearchBar>
      <ListTable
        list={list}
        caption={t.feedback}
        columns={columns}
        rowKey={({ id }) => id}
        empty={<Empty title={t.noFeedback}>{t.noFeedbackHint}</Empty>}
      />
    </>
  )
}

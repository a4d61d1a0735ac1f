import { useState } from 'preact/hooks'
import type { QuarantinedMessage } from '../../api/schema.ts'
import { Details, Source } from '../../ui/details.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Empty, Heading, Text, Time, type Tone } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { QuarantineActions } from './quarantine-actions.tsx'
import { t } from './words.ts'

const THREATS: Record<QuarantinedMessage['threat_level'], Tone> = {
  low: '',
  medium: 'warn',
  high: 'bad',
  critical: 'bad',
}
const STATES: Record<string, Tone> = { quarantined: 'warn', released: 'good' }

const subjectOf = ({ subject }: QuarantinedMessage) => subject || t.noSubject

const columns: Column<QuarantinedMessage>[] = [
  { title: common.when, minor: true, cell: ({ created_at }) => <Time iso={created_at} /> },
  { title: t.subject, cell: (message) => <View message={message} /> },
  { title: t.recipient, minor: true, cell: ({ recipient }) => <Text>{recipient}</Text> },
  {
    title: t.reason,
    minor: true,
    cell: ({ reason, virus_name, spam_score }) => (
      <>
        {t.reasons[reason] ?? reason}
        {(virus_name ?? spam_score) !== null && (
          <small class="under">
            <Text>{virus_name ?? String(spam_score)}</Text>
          </small>
        )}
      </>
    ),
  },
  {
    title: t.threat,
    minor: true,
    cell: ({ threat_level }) => (
      <Badge tone={THREATS[threat_level]}>{t.threats[threat_level]}</Badge>
    ),
  },
  {
    title: t.status,
    cell: ({ status }) => <Badge tone={STATES[status] ?? ''}>{t.statuses[status] ?? status}</Badge>,
  },
  { title: common.actions, quiet: true, cell: (one) => <QuarantineActions message={one} /> },
]

export function Quarantine() {
  const list = useList<QuarantinedMessage, 'status' | 'reason' | 'organization_id'>({
    name: 'quarantine',
    sort: '',
    filters: ['status', 'reason', 'organization_id'],
    read: async ({ q, page, per_page, filters }) => {
      const { messages, total } = await api.get('/message-trace/quarantine', {
        query: {
          q,
          status: filters.status as 'quarantined' | undefined,
          reason: filters.reason as 'spam' | undefined,
          organization_id: filters.organization_id,
          limit: per_page,
          offset: (page - 1) * per_page,
        },
      })
      return { items: messages, pagination: { total } }
    },
  })
  const { filters } = list.asked
  return (
    <>
      <Heading title={t.title} />
      <SearchBar list={list} label={t.search}>
        <Choice
          label={t.anyStatus}
          value={filters.status}
          options={Object.entries(t.statuses)}
          change={(status) => list.set({ status })}
        />
        <Choice
          label={t.anyReason}
          value={filters.reason}
          options={Object.entries(t.reasons)}
          change={(reason) => list.set({ reason })}
        />
      </SearchBar>
      <ListTable
        list={list}
        caption={t.title}
        columns={columns}
        rowKey={({ id }) => id}
        empty={<Empty title={t.none}>{t.noneHint}</Empty>}
      />
    </>
  )
}

/** The subject opens what is known about the message. The header is shown as text, never as a page. */
function View({ message }: { message: QuarantinedMessage }) {
  const [open, setOpen] = useState(false)
  const subject = subjectOf(message)
  return (
    <>
      <button type="button" class="link" onClick={() => setOpen(true)}>
        <span class="hidden">{t.view} </span>
        <Text>{subject}</Text>
      </button>
      <small class="under">
        <Text>{message.sender}</Text>
      </small>
      <Dialog title={subject} size="wide" open={open} onClose={() => setOpen(false)}>
        <div class="stack">
          <Details
            rows={[
              [t.sender, <Text key="sender">{message.sender}</Text>],
              [t.recipient, <Text key="recipient">{message.recipient}</Text>],
              [t.login, message.login && <Text>{message.login}</Text>],
              [t.reason, t.reasons[message.reason] ?? message.reason],
              [t.score, message.spam_score === null ? null : String(message.spam_score)],
              [t.virus, message.virus_name && <Text>{message.virus_name}</Text>],
              [t.messageId, message.message_id && <code>{message.message_id}</code>],
              [common.when, <Time key="when" iso={message.created_at} form="dateTime" />],
              [t.expires, <Time key="expires" iso={message.expires_at} form="dateTime" />],
              [
                t.released,
                message.released_at && <Time iso={message.released_at} form="dateTime" />,
              ],
            ]}
          />
          <h3>{t.headers}</h3>
          <Source label={t.headers} text={headerText(message.headers)} />
          {message.message_id && (
            <p>
              <a href={`/console/trace/${encodeURIComponent(message.message_id)}`}>{t.trace}</a>
            </p>
          )}
        </div>
      </Dialog>
    </>
  )
}

const headerText = (headers: object): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('\n')

import type { ComponentChildren } from 'preact'
import { DateFilter, TextFilter } from './filters.tsx'
import { Choice } from './list.tsx'
import { type Delivery, STATUSES } from './message.tsx'
import { t } from './message.words.ts'
import { Text } from './page.tsx'

type Name = 'sender' | 'recipient' | 'subject' | 'message_id' | 'status' | 'start_date' | 'end_date'

interface Props {
  filters: Partial<Record<Name, string>>
  set(change: Partial<Record<Name, string>>): void
  /** Filters of one screen only. */
  children: ComponentChildren
}

/** The filters of every list of messages. */
export function MessageFilters({ filters, set, children }: Props) {
  const text = (name: 'sender' | 'recipient' | 'subject' | 'message_id', label: string) => (
    <TextFilter
      label={label}
      value={filters[name] ?? ''}
      change={(value) => set({ [name]: value })}
    />
  )
  const date = (name: 'start_date' | 'end_date', label: string) => (
    <DateFilter
      label={label}
      value={filters[name] ?? ''}
      change={(value) => set({ [name]: value })}
    />
  )
  return (
    <>
      {text('sender', t.sender)}
      {text('recipient', t.recipient)}
      {text('subject', t.subject)}
      {text('message_id', t.messageId)}
      {children}
      <Choice
        label={t.anyStatus}
        value={filters.status ?? ''}
        options={STATUSES.map((status) => [status, t.statuses[status] ?? status] as const)}
        change={(status) => set({ status })}
      />
      {date('start_date', t.from)}
      {date('end_date', t.to)}
    </>
  )
}

/** Subject and sender in a list, with a link to the message below the path. */
export const SubjectCell = ({
  path,
  message: { message_id, subject, sender },
}: {
  path: string
  message: Delivery
}) => {
  const shown = <Text>{subject || t.noSubject}</Text>
  return (
    <>
      {message_id ? <a href={`${path}/${encodeURIComponent(message_id)}`}>{shown}</a> : shown}
      <small class="under">
        <Text>{sender || t.bounce}</Text>
      </small>
    </>
  )
}

import { date, hour, timeZone } from '../../lib/format.ts'
import { visible } from '../../lib/visible.ts'
import { Icon } from '../../ui/icon.tsx'
import { clip, flag } from '../../ui/icons.ts'
import { Text } from '../../ui/page.tsx'
import { type Row, shownPeople } from './threads.ts'
import { t } from './words.ts'

/** A time of today, a day before. */
function shortTime(iso: string): string {
  const dayOf = (at: Date) => at.toLocaleDateString('en-CA', { timeZone: timeZone() })
  return dayOf(new Date(iso)) === dayOf(new Date()) ? hour(iso) : date(iso)
}

export const subjectOf = (subject: string | null): string => subject?.trim() || t.noSubject

interface Props {
  rows: readonly Row[]
  /** In the folders of own mail the recipients are shown, not the sender. */
  showRecipients: boolean
  isReadOnly: boolean
  chosen: ReadonlySet<string>
  choose(row: Row, on: boolean): void
  toggleFlag(row: Row): void
  urlOf(row: Row): string
  busy: boolean
}

/** The conversations of a page; each is one link, reached by Tab, or by j and k. */
export const MessageRows = ({ rows, busy, ...props }: Props) => (
  <ul class="mail-rows" aria-busy={busy}>
    {rows.map((row) => (
      <MessageRow key={row.newest.threadId} row={row} {...props} />
    ))}
  </ul>
)

function MessageRow({
  row,
  showRecipients,
  isReadOnly,
  chosen,
  choose,
  toggleFlag,
  urlOf,
}: Omit<Props, 'rows' | 'busy'> & { row: Row }) {
  const { newest } = row
  const subject = subjectOf(newest.subject)
  const people = showRecipients
    ? shownPeople(newest.to ?? []) || t.nobody
    : shownPeople(row.people) || t.noSender
  return (
    <li class={row.isUnread ? 'unread' : ''}>
      <input
        type="checkbox"
        aria-label={t.select(visible(subject))}
        checked={chosen.has(newest.threadId)}
        onChange={(event) => choose(row, event.currentTarget.checked)}
      />
      <a href={urlOf(row)} data-thread={newest.threadId}>
        {row.isUnread && <span class="hidden">{t.unread}. </span>}
        <span class="who clip">
          <Text>{people}</Text>
          {row.count > 1 && (
            <span class="muted figure">
              {' '}
              <span aria-hidden="true">{row.count}</span>
              <span class="hidden">{t.inThread(row.count)}</span>
            </span>
          )}
        </span>
        <span class="what clip">
          <span class="about">
            <Text>{subject}</Text>
          </span>{' '}
          <span class="muted">
            <Text>{newest.preview}</Text>
          </span>
        </span>
        <span class="when muted">
          {newest.hasAttachment && (
            <>
              <Icon path={clip} size={15} />
              <span class="hidden">{t.hasAttachment}</span>{' '}
            </>
          )}
          <time dateTime={newest.receivedAt}>{shortTime(newest.receivedAt)}</time>
        </span>
      </a>
      {!isReadOnly && (
        <button
          type="button"
          class="quiet icon small flag"
          aria-pressed={row.isFlagged}
          aria-label={`${t.flagged}: ${visible(subject)}`}
          onClick={() => toggleFlag(row)}
        >
          <Icon path={flag} size={16} />
        </button>
      )}
    </li>
  )
}

import { useEffect } from 'preact/hooks'
import { dateTime } from '../../lib/format.ts'
import { useCapability } from '../../lib/may.ts'
import { useQuery } from '../../lib/query.ts'
import { visible } from '../../lib/visible.ts'
import { Failed } from '../../ui/failed.tsx'
import { Icon } from '../../ui/icon.tsx'
import { down } from '../../ui/icons.ts'
import { Badge, Text, Time } from '../../ui/page.tsx'
import { nameOf, showAddresses } from './addresses.ts'
import { AttachmentList } from './attachment-list.tsx'
import { setKeyword } from './change-mail.ts'
import { MessageBody } from './message-body.tsx'
import { readMessage } from './read-mail.ts'
import { shownPeople } from './threads.ts'
import type { Message as Mail, Summary } from './types.ts'
import { composeUrl } from './use-mail.ts'
import { t } from './words.ts'

interface Props {
  accountId: string
  summary: Summary
  isOpen: boolean
  isReadOnly: boolean
  toggle(): void
}

/** One message of a conversation: a line, or with its text. */
export function Message({ accountId, summary, isOpen, isReadOnly, toggle }: Props) {
  const { from, to, keywords, preview, receivedAt } = summary
  const sender = from?.[0] ? nameOf(from[0]) : t.noSender
  const name = visible(sender)
  return (
    <article class={`card message ${keywords.$seen ? '' : 'unread'}`} aria-label={name}>
      <header>
        <button
          type="button"
          class="quiet icon small"
          aria-expanded={isOpen}
          aria-label={isOpen ? t.hide(name) : t.show(name)}
          onClick={toggle}
        >
          <Icon path={down} size={16} />
        </button>
        <div class="clip">
          <h2 class="clip">
            <Text>{sender}</Text>
          </h2>
          <p class="muted clip">
            {isOpen ? (
              t.toShort(visible(shownPeople(to ?? []) || t.nobody))
            ) : (
              <Text>{preview}</Text>
            )}
          </p>
        </div>
        <p class="when muted">
          {keywords.$draft && <Badge tone="info">{t.draft}</Badge>}{' '}
          {keywords.$answered && <Badge>{t.answered}</Badge>}{' '}
          {keywords.$flagged && <Badge tone="warn">{t.flagged}</Badge>}{' '}
          <Time iso={receivedAt} form="dateTime" />
        </p>
      </header>
      {isOpen && <OpenMessage accountId={accountId} summary={summary} isReadOnly={isReadOnly} />}
    </article>
  )
}

function OpenMessage({
  accountId,
  summary,
  isReadOnly,
}: {
  accountId: string
  summary: Summary
  isReadOnly: boolean
}) {
  const { id, keywords } = summary
  const { data, error, again } = useQuery(`mailbody ${accountId} ${id}`, async () => ({
    message: await readMessage(accountId, id),
  }))
  const message = data?.message
  useEffect(() => {
    // Marked once: a person can then mark it as unread.
    if (message && !keywords.$seen && !isReadOnly) {
      setKeyword(accountId, [id], '$seen', true).catch(() => {})
    }
  }, [message === undefined])
  return (
    <div class="pad stack" aria-busy={!data && !error}>
      <Failed error={error} again={again} />
      {data && !message && <p class="note warn">{t.goneHint}</p>}
      {message && (
        <>
          <Header message={message} />
          <MessageBody accountId={accountId} message={message} />
          <AttachmentList accountId={accountId} message={message} />
          <Answers accountId={accountId} message={message} isReadOnly={isReadOnly} />
        </>
      )}
    </div>
  )
}

const Header = ({ message }: { message: Mail }) => {
  const lines = [
    [t.from, showAddresses(message.from)],
    [t.to, showAddresses(message.to)],
    [t.cc, showAddresses(message.cc)],
    [t.bcc, showAddresses(message.bcc)],
    [t.date, message.sentAt ? dateTime(message.sentAt) : ''],
  ].filter(([, value]) => value)
  return (
    <details class="header">
      <summary>
        <Text>{showAddresses(message.from) || t.noSender}</Text>
      </summary>
      <dl class="details">
        {lines.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <Text>{value}</Text>
            </dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

function Answers({
  accountId,
  message,
  isReadOnly,
}: {
  accountId: string
  message: Mail
  isReadOnly: boolean
}) {
  const maySend = useCapability('send')
  if (message.keywords.$draft) {
    return isReadOnly ? null : (
      <p class="actions">
        <a class="button" href={composeUrl({ draft: message.id })}>
          {t.edit}
        </a>
      </p>
    )
  }
  if (!maySend) return null
  const others = (message.to?.length ?? 0) + (message.cc?.length ?? 0)
  const to = (kind: string) => composeUrl({ [kind]: message.id, account: accountId })
  return (
    <p class="actions">
      <a class="button" href={to('reply')}>
        {t.reply}
      </a>
      {others > 1 && (
        <a class="button" href={to('all')}>
          {t.replyAll}
        </a>
      )}
      <a class="button" href={to('forward')}>
        {t.forward}
      </a>
    </p>
  )
}

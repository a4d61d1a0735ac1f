import { useEffect, useState } from 'preact/hooks'
import { useCapability } from '../../lib/may.ts'
import { useQuery } from '../../lib/query.ts'
import { go, useParams, useQueryState } from '../../lib/router.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Empty, Heading } from '../../ui/page.tsx'
import { ActionBar, useDelete } from './action-bar.tsx'
import { Message } from './message.tsx'
import { subjectOf } from './message-rows.tsx'
import { readThread } from './read-mail.ts'
import { ShortcutHelp, useShortcuts } from './shortcuts.tsx'
import type { Summary } from './types.ts'
import { useMailActions } from './use-actions.ts'
import { composeUrl, useAccount, useFolders } from './use-mail.ts'
import { t } from './words.ts'

/** A conversation: its messages, oldest first. Unread ones and the last are open. */
export function Thread() {
  const { account_id = '', thread_id = '' } = useParams()
  const [{ list }] = useQueryState('list')
  const { account } = useAccount(account_id)
  const folders = useFolders(account_id).data ?? []
  const thread = useQuery(`mail-thread ${account_id} ${thread_id}`, () =>
    readThread(account_id, thread_id),
  )
  const back = `/mailbox/mail${list && `?${list}`}`
  const messages = thread.data ?? []
  const subject = subjectOf(messages[0]?.subject ?? null)
  const isReadOnly = account?.isReadOnly ?? true
  return (
    <>
      <Heading
        title={thread.data?.length === 0 ? t.gone : thread.data ? subject : t.title}
        parent={{ title: t.back, to: back }}
      />
      <Failed error={thread.error} again={thread.again} />
      {thread.data?.length === 0 && (
        <Empty
          title={t.gone}
          action={
            <a class="button" href={back}>
              {t.back}
            </a>
          }
        >
          {t.goneHint}
        </Empty>
      )}
      {messages.length > 0 && !isReadOnly && (
        <ThreadActions
          accountId={account_id}
          folders={folders}
          messages={messages}
          folderId={new URLSearchParams(list).get('folder') ?? undefined}
          back={back}
        />
      )}
      <Messages accountId={account_id} messages={messages} isReadOnly={isReadOnly} />
      {!thread.data && !thread.error && <p aria-busy="true" class="starting" />}
    </>
  )
}

/** The open messages are chosen when the conversation is first shown. */
function Messages({
  accountId,
  messages,
  isReadOnly,
}: {
  accountId: string
  messages: readonly Summary[]
  isReadOnly: boolean
}) {
  const [toggled, setToggled] = useState<Record<string, boolean>>({})
  const [first, setFirst] = useState<ReadonlySet<string>>()
  useEffect(() => {
    if (first || messages.length === 0) return
    const last = messages[messages.length - 1]
    const open = messages.filter((one) => one === last || !one.keywords.$seen)
    setFirst(new Set(open.map(({ id }) => id)))
  }, [messages])
  return (
    <div class="thread">
      {messages.map((message) => {
        const isOpen = toggled[message.id] ?? first?.has(message.id) ?? false
        return (
          <Message
            key={message.id}
            accountId={accountId}
            summary={message}
            isOpen={isOpen}
            isReadOnly={isReadOnly}
            toggle={() => setToggled({ ...toggled, [message.id]: !isOpen })}
          />
        )
      })}
    </div>
  )
}

function ThreadActions({
  accountId,
  folders,
  messages,
  folderId,
  back,
}: {
  accountId: string
  folders: Parameters<typeof useMailActions>[1]
  messages: readonly Summary[]
  folderId: string | undefined
  back: string
}) {
  const [helping, setHelping] = useState(false)
  const actions = useMailActions(accountId, folders)
  const done = () => go(back)
  const { remove, dialog } = useDelete(actions, done)
  const maySend = useCapability('send')
  const here = messages.filter(({ mailboxIds }) => !folderId || mailboxIds[folderId])
  const own = here.length > 0 ? here : messages
  const inFolder = folderId ?? (own[0] && Object.keys(own[0].mailboxIds)[0])
  const chosen = { ids: own.map(({ id }) => id), threads: 1, folderId: inFolder }
  const isFlagged = own.some(({ keywords }) => keywords.$flagged)
  const last = messages[messages.length - 1]
  const write = (kind: string) => () => {
    if (last && maySend) go(composeUrl({ [kind]: last.id, account: accountId }))
  }
  useShortcuts({
    '?': () => setHelping(true),
    c: () => go(composeUrl()),
    r: write('reply'),
    a: write('all'),
    f: write('forward'),
    // Open messages are read, so the key can only mean this.
    u: () => void actions.mark(chosen, '$seen', false).then(done),
    s: () => void actions.mark(chosen, '$flagged', !isFlagged),
    e: () => {
      if (actions.archive) void actions.move(chosen, actions.archive).then(done)
    },
    '#': () => void remove(chosen),
  })
  return (
    <div class="selected">
      <Failed error={actions.error} />
      <ActionBar
        actions={{
          ...actions,
          // A conversation that is open would be marked as read again at once.
          mark: async (some, keyword, on) => {
            const isDone = await actions.mark(some, keyword, keyword === '$seen' ? false : on)
            if (isDone && keyword === '$seen') done()
            return isDone
          },
        }}
        chosen={chosen}
        folders={folders}
        isUnread={false}
        isFlagged={isFlagged}
        remove={(some) => void remove(some)}
        done={done}
      />
      {dialog}
      <ShortcutHelp open={helping} onClose={() => setHelping(false)} />
    </div>
  )
}

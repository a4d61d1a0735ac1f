import { useEffect, useState } from 'preact/hooks'
import { useCapability } from '../../lib/may.ts'
import { useQuery } from '../../lib/query.ts'
import { go, useQueryState } from '../../lib/router.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Icon } from '../../ui/icon.tsx'
import { pen } from '../../ui/icons.ts'
import { Empty, Heading } from '../../ui/page.tsx'
import { Pager, useLastPage } from '../../ui/table.tsx'
import { t as common } from '../../ui/words.ts'
import { ActionBar, useDelete } from './action-bar.tsx'
import { FolderActions } from './folder-actions.tsx'
import { FolderList } from './folder-list.tsx'
import { folderOf, type ListedFolder } from './folders.ts'
import { MessageRows } from './message-rows.tsx'
import { type NamedAccount, PER_PAGE, readRows } from './read-mail.ts'
import { SearchMail } from './search-mail.tsx'
import { ShortcutHelp, useShortcuts } from './shortcuts.tsx'
import type { Row } from './threads.ts'
import { type Chosen, useMailActions } from './use-actions.ts'
import { composeUrl, folderName, inboxOf, threadUrl, useAccount, useFolders } from './use-mail.ts'
import { t } from './words.ts'

const EVERY_SECONDS = 30

/** The folders and the conversations of one of them. */
export function Mail() {
  const [asked] = useQueryState('account', 'folder')
  const { account, accounts, error, again } = useAccount(asked.account)
  const folders = useFolders(account?.id)
  const all = folders.data ?? []
  const folder = all.find(({ id }) => id === asked.folder) ?? inboxOf(all)
  const maySend = useCapability('send')
  return (
    <>
      <Heading title={folder ? folderName(folder) : t.title}>
        {account && !account.isReadOnly && <FolderActions accountId={account.id} folder={folder} />}
        {maySend && (
          <a class="button primary" href={composeUrl()}>
            <Icon path={pen} size={16} />
            {t.compose}
          </a>
        )}
      </Heading>
      <Failed error={error} again={again} />
      <Failed error={folders.error} again={folders.again} />
      <div class="mail" aria-busy={!folder && !error && !folders.error}>
        {account && (
          <FolderList accounts={accounts} account={account} folders={all} current={folder?.id} />
        )}
        {account && folder && (
          <Conversations
            key={`${account.id} ${folder.id}`}
            account={account}
            folders={all}
            folder={folder}
          />
        )}
      </div>
    </>
  )
}

function Conversations({
  account,
  folders,
  folder,
}: {
  account: NamedAccount
  folders: readonly ListedFolder[]
  folder: ListedFolder
}) {
  const [state, change] = useQueryState('q', 'where', 'only', 'page')
  const page = Math.max(1, Number(state.page) || 1)
  const isEverywhere = state.q !== '' && state.where === 'all'
  const asked = {
    folder: isEverywhere ? undefined : folder.id,
    without: ['trash', 'junk'].flatMap((role) => folderOf(folders, role)?.id ?? []),
    text: state.q,
    only: state.only,
    page,
  }
  const list = useQuery(
    `mail-rows ${account.id} ${JSON.stringify(asked)}`,
    () => readRows(account.id, asked),
    { everySeconds: EVERY_SECONDS },
  )
  const rows = list.data?.rows ?? []
  const paging = {
    page,
    perPage: PER_PAGE,
    total: list.data?.total,
    change: (next: number, replace = false) =>
      change({ page: next > 1 ? String(next) : '' }, replace),
  }
  useLastPage(!list.loading && list.data?.rows.length === 0, paging)
  const selection = useSelection(rows, state)
  const [helping, setHelping] = useState(false)
  const actions = useMailActions(account.id, folders)
  const { remove, dialog } = useDelete(actions, selection.clear)
  const about = (some: readonly Row[]): Chosen => ({
    ids: some.flatMap(({ ids }) => ids),
    threads: some.length,
    folderId: isEverywhere ? undefined : folder.id,
  })
  const urlOf = (row: Row) =>
    folder.role === 'drafts' && row.count === 1
      ? composeUrl({ draft: row.newest.id })
      : threadUrl(account.id, row.newest.threadId, location.search.slice(1))
  const target = () => {
    const focused = focusedRow(rows)
    return selection.rows.length > 0 ? selection.rows : focused ? [focused] : []
  }
  const change1 = (act: (some: Row[]) => void) => () => {
    const some = target()
    if (some.length > 0 && !account.isReadOnly) act(some)
  }
  useShortcuts({
    '?': () => setHelping(true),
    '/': () => document.querySelector<HTMLElement>('.bar input')?.focus(),
    c: () => go(composeUrl()),
    j: () => moveFocus(1),
    k: () => moveFocus(-1),
    x: () => {
      const row = focusedRow(rows)
      if (row) selection.choose(row, !selection.chosen.has(row.newest.threadId))
    },
    u: change1(
      (some) =>
        void actions.mark(
          about(some),
          '$seen',
          some.some((row) => row.isUnread),
        ),
    ),
    s: change1(
      (some) => void actions.mark(about(some), '$flagged', !some.some((row) => row.isFlagged)),
    ),
    e: change1((some) => {
      if (actions.archive) void actions.move(about(some), actions.archive).then(selection.clear)
    }),
    '#': change1((some) => void remove(about(some))),
  })
  const isFiltered = state.q !== '' || state.only !== ''
  return (
    <section class="conversations" aria-label={folderName(folder)}>
      <SearchMail state={state} change={change} help={() => setHelping(true)} />
      <Failed error={list.error ?? actions.error} again={list.again} />
      {selection.rows.length > 0 && (
        <div class="selected">
          <p role="status">
            {t.selected(selection.rows.length)}{' '}
            <button type="button" class="link" onClick={selection.clear}>
              {t.unselect}
            </button>
          </p>
          {!account.isReadOnly && (
            <ActionBar
              actions={actions}
              chosen={about(selection.rows)}
              folders={folders}
              isUnread={selection.rows.some((row) => row.isUnread)}
              isFlagged={selection.rows.some((row) => row.isFlagged)}
              remove={(chosen) => void remove(chosen)}
              done={selection.clear}
            />
          )}
        </div>
      )}
      {list.data?.rows.length === 0 ? (
        <NothingHere
          isFiltered={isFiltered}
          clear={() => change({ q: '', only: '', where: '', page: '' })}
        />
      ) : (
        <div class="card">
          <MessageRows
            rows={rows}
            busy={list.data === undefined && !list.error}
            showRecipients={folder.role === 'sent' || folder.role === 'drafts'}
            isReadOnly={account.isReadOnly}
            chosen={selection.chosen}
            choose={selection.choose}
            toggleFlag={(row) => void actions.mark(about([row]), '$flagged', !row.isFlagged)}
            urlOf={urlOf}
          />
          {list.data && <Pager {...paging} caption={folder.name} shown={rows.length} />}
        </div>
      )}
      {dialog}
      <ShortcutHelp open={helping} onClose={() => setHelping(false)} />
    </section>
  )
}

const NothingHere = ({ isFiltered, clear }: { isFiltered: boolean; clear(): void }) =>
  isFiltered ? (
    <Empty
      title={common.nothingFound}
      action={
        <button type="button" onClick={clear}>
          {common.showAll}
        </button>
      }
    >
      {common.nothingFoundHint}
    </Empty>
  ) : (
    <Empty title={t.none}>{t.noneHint}</Empty>
  )

/** The chosen conversations of this page; another page or search starts without any. */
function useSelection(rows: readonly Row[], state: Record<string, string>) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const clear = () => setChosen(new Set())
  useEffect(clear, [JSON.stringify(state)])
  return {
    chosen,
    clear,
    rows: rows.filter(({ newest }) => chosen.has(newest.threadId)),
    choose(row: Row, on: boolean) {
      const next = new Set(chosen)
      if (on) next.add(row.newest.threadId)
      else next.delete(row.newest.threadId)
      setChosen(next)
    },
  }
}

const links = () => [...document.querySelectorAll<HTMLElement>('.mail-rows a')]

const focusedLink = () =>
  document.activeElement?.closest('.mail-rows li')?.querySelector<HTMLElement>('a')

function moveFocus(step: number): void {
  const all = links()
  const at = all.indexOf(focusedLink() as HTMLElement)
  all[Math.min(all.length - 1, Math.max(0, at + step))]?.focus()
}

const focusedRow = (rows: readonly Row[]) => {
  const thread = focusedLink()?.dataset.thread
  return rows.find(({ newest }) => newest.threadId === thread)
}

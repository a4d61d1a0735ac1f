import { useQuery } from '../../lib/query.ts'
import { folderOf, type ListedFolder } from './folders.ts'
import { readAccounts, readFolders } from './read-mail.ts'
import { t } from './words.ts'

const EVERY_SECONDS = 30

/** The accounts of the person; the own one where the address names none. */
export function useAccount(chosen: string) {
  const { data, error, again } = useQuery('mail-accounts', readAccounts)
  const account = data?.find(({ id }) => id === chosen) ?? data?.[0]
  return { account, accounts: data ?? [], error, again }
}

/** The folders of an account, read again while the page is looked at. */
export function useFolders(accountId: string | undefined) {
  return useQuery<ListedFolder[]>(
    `mail-folders ${accountId ?? ''}`,
    async () => (accountId ? readFolders(accountId) : []),
    { everySeconds: EVERY_SECONDS },
  )
}

/** Folders that every mailbox has are named in the language of the page. */
export const folderName = ({ role, name }: Pick<ListedFolder, 'role' | 'name'>): string =>
  t.roles[role ?? ''] ?? name

export const inboxOf = (folders: readonly ListedFolder[]) =>
  folderOf(folders, 'inbox') ?? folders[0]

/** The address of the list, of a conversation, and of the page for writing. */
export const listUrl = (account: string, folder: string) =>
  `/mailbox/mail?${new URLSearchParams({ account, folder })}`

export const threadUrl = (account: string, threadId: string, list: string) =>
  `/mailbox/mail/${encodeURIComponent(account)}/${encodeURIComponent(threadId)}${list && `?${new URLSearchParams({ list })}`}`

export const composeUrl = (query: Record<string, string> = {}) => {
  const search = new URLSearchParams(query)
  return `/mailbox/compose${search.size > 0 ? `?${search}` : ''}`
}

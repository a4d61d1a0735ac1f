import { go } from '../../lib/router.tsx'
import { Text } from '../../ui/page.tsx'
import type { ListedFolder } from './folders.ts'
import type { NamedAccount } from './read-mail.ts'
import { folderName, listUrl } from './use-mail.ts'
import { t } from './words.ts'

const MAX_INDENT = 3

/** The folders of an account as links, and the other accounts of the person. */
export const FolderList = ({
  accounts,
  account,
  folders,
  current,
}: {
  accounts: readonly NamedAccount[]
  account: NamedAccount
  folders: readonly ListedFolder[]
  current: string | undefined
}) => (
  <nav class="folders" aria-label={t.folders}>
    {accounts.length > 1 && (
      <select
        aria-label={t.account}
        value={account.id}
        onChange={(event) =>
          go(`/mailbox/mail?${new URLSearchParams({ account: event.currentTarget.value })}`)
        }
      >
        {accounts.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    )}
    <ul>
      {folders.map((folder) => (
        <li key={folder.id} class={`depth-${Math.min(folder.depth, MAX_INDENT)}`}>
          <a
            href={listUrl(account.id, folder.id)}
            aria-current={folder.id === current ? 'page' : undefined}
          >
            <span class="clip">
              <Text>{folderName(folder)}</Text>
            </span>
            {folder.unreadThreads > 0 && (
              <span class="figure count">
                <span aria-hidden="true">{folder.unreadThreads}</span>
                <span class="hidden">{t.unreadCount(folder.unreadThreads)}</span>
              </span>
            )}
          </a>
        </li>
      ))}
    </ul>
  </nav>
)

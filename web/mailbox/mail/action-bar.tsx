import { useState } from 'preact/hooks'
import { Confirm } from '../../ui/confirm.tsx'
import { Icon } from '../../ui/icon.tsx'
import { trash as trashIcon } from '../../ui/icons.ts'
import type { ListedFolder } from './folders.ts'
import type { Chosen, MailActions } from './use-actions.ts'
import { folderName } from './use-mail.ts'
import { t } from './words.ts'

/** Asks before messages are deleted for good; otherwise they go to the trash at once. */
export function useDelete(actions: MailActions, done: () => void) {
  const [asked, setAsked] = useState<Chosen>()
  const remove = async (chosen: Chosen) => {
    if (chosen.ids.length === 0) return
    if (actions.isForGood(chosen)) setAsked(chosen)
    else if (await actions.toTrash(chosen)) done()
  }
  const dialog = (
    <Confirm
      title={t.deleteForGood}
      open={asked !== undefined}
      onClose={() => setAsked(undefined)}
      submit={t.deleteForGood}
      danger
      onConfirm={async () => {
        if (asked) await actions.destroy(asked)
        done()
      }}
    >
      <p>{asked && t.deleteForGoodHint(asked.threads)}</p>
    </Confirm>
  )
  return { remove, dialog }
}

/** The buttons for messages: of the selection in the list, or of the conversation that is read. */
export const ActionBar = ({
  actions,
  chosen,
  folders,
  isUnread,
  isFlagged,
  remove,
  done,
}: {
  actions: MailActions
  chosen: Chosen
  folders: readonly ListedFolder[]
  isUnread: boolean
  isFlagged: boolean
  remove(chosen: Chosen): void
  /** After the messages have left the folder. */
  done(): void
}) => {
  const { archive, busy } = actions
  const move = async (target: ListedFolder | undefined) => {
    if (target && (await actions.move(chosen, target))) done()
  }
  return (
    <div class="actions">
      {archive && archive.id !== chosen.folderId && (
        <button type="button" class="small" disabled={busy} onClick={() => void move(archive)}>
          {t.archive}
        </button>
      )}
      <button type="button" class="small" disabled={busy} onClick={() => remove(chosen)}>
        <Icon path={trashIcon} size={15} />
        {actions.isForGood(chosen) ? t.deleteForGood : t.delete}
      </button>
      <button
        type="button"
        class="small"
        disabled={busy}
        onClick={() => void actions.mark(chosen, '$seen', isUnread)}
      >
        {isUnread ? t.markRead : t.markUnread}
      </button>
      <button
        type="button"
        class="small"
        disabled={busy}
        onClick={() => void actions.mark(chosen, '$flagged', !isFlagged)}
      >
        {isFlagged ? t.unflag : t.flag}
      </button>
      <select
        class="small"
        aria-label={t.move}
        value=""
        disabled={busy}
        onChange={(event) => {
          const target = folders.find(({ id }) => id === event.currentTarget.value)
          event.currentTarget.value = ''
          void move(target)
        }}
      >
        <option value="">{t.move}</option>
        {folders
          .filter(({ id }) => id !== chosen.folderId)
          .map((folder) => (
            <option key={folder.id} value={folder.id}>
              {`${'\u2003'.repeat(folder.depth)}${folderName(folder)}`}
            </option>
          ))}
      </select>
    </div>
  )
}

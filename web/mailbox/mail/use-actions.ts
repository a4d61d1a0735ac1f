import { useAction } from '../../lib/query.ts'
import { toast } from '../../ui/toast.tsx'
import { destroy, moveTo, setKeyword } from './change-mail.ts'
import { folderOf, type ListedFolder } from './folders.ts'
import { folderName } from './use-mail.ts'
import { t } from './words.ts'

/** Messages that an action is about, and how many conversations a person sees in them. */
export interface Chosen {
  ids: readonly string[]
  threads: number
  /** The folder they are in, for the way back. */
  folderId: string | undefined
}

/** Actions on messages. Each action runs once at a time. */
export function useMailActions(accountId: string, folders: readonly ListedFolder[]) {
  const action = useAction((_key, work: () => Promise<unknown>) => work())
  const trash = folderOf(folders, 'trash')

  const move = ({ ids, threads, folderId }: Chosen, target: ListedFolder) =>
    action.run(async () => {
      await moveTo(accountId, ids, target.id)
      const back = folderId ? () => moveTo(accountId, ids, folderId) : undefined
      toast(t.moved(threads, folderName(target)), back)
    })

  return {
    error: action.error,
    busy: action.busy,
    archive: folderOf(folders, 'archive'),
    trash,
    mark: ({ ids }: Chosen, keyword: '$seen' | '$flagged', on: boolean) =>
      action.run(() => setKeyword(accountId, ids, keyword, on)),
    move,
    /** True if deleting is final: in the trash, or if there is no trash. */
    isForGood: ({ folderId }: Chosen) => !trash || folderId === trash.id,
    toTrash: (chosen: Chosen) => (trash ? move(chosen, trash) : Promise.resolve(false)),
    async destroy({ ids, threads }: Chosen) {
      await destroy(accountId, ids)
      toast(t.deleted(threads))
    },
  }
}

export type MailActions = ReturnType<typeof useMailActions>

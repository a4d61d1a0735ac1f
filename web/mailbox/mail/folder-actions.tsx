import { useState } from 'preact/hooks'
import { go } from '../../lib/router.tsx'
import { ConfirmByName } from '../../ui/confirm.tsx'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { addFolder, removeFolder, renameFolder } from './change-mail.ts'
import type { ListedFolder } from './folders.ts'
import { t } from './words.ts'

/** Create a folder; rename or delete the one that is shown, where the server allows it. */
export function FolderActions({
  accountId,
  folder,
}: {
  accountId: string
  folder: ListedFolder | undefined
}) {
  const [open, setOpen] = useState<'add' | 'rename' | 'remove'>()
  const close = () => setOpen(undefined)
  const mayRename = folder && !folder.role && folder.myRights.mayRename
  const mayDelete = folder && !folder.role && folder.myRights.mayDelete
  return (
    <>
      <Menu name={t.folderActions}>
        <MenuItem onClick={() => setOpen('add')}>{t.addFolder}</MenuItem>
        {mayRename && <MenuItem onClick={() => setOpen('rename')}>{t.renameFolder}</MenuItem>}
        {mayDelete && (
          <MenuItem danger onClick={() => setOpen('remove')}>
            {t.removeFolder}
          </MenuItem>
        )}
      </Menu>
      <FormDialog
        title={t.addFolder}
        open={open === 'add'}
        onClose={close}
        submit={t.create}
        onSubmit={(values) => addFolder(accountId, values.text('name'))}
      >
        <Field label={t.folderName} name="name" required maxLength={200} autocomplete="off" />
      </FormDialog>
      {folder && (
        <>
          <FormDialog
            title={t.renameFolder}
            open={open === 'rename'}
            onClose={close}
            submit={t.rename}
            onSubmit={(values) => renameFolder(accountId, folder.id, values.text('name'))}
          >
            <Field
              label={t.folderName}
              name="name"
              required
              maxLength={200}
              autocomplete="off"
              value={folder.name}
            />
          </FormDialog>
          <ConfirmByName
            name={folder.name}
            title={t.removeFolder}
            open={open === 'remove'}
            onClose={close}
            submit={t.delete}
            onConfirm={async () => {
              await removeFolder(accountId, folder.id)
              go(`/mailbox/mail?${new URLSearchParams({ account: accountId })}`, { replace: true })
            }}
          >
            <p>{t.removeFolderHint(folder.name)}</p>
          </ConfirmByName>
        </>
      )}
    </>
  )
}

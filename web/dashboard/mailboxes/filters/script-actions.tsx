import { useState } from 'preact/hooks'
import type { FilterScript } from '../../../api/schema.ts'
import { useMay } from '../../../lib/may.ts'
import { forget } from '../../../lib/query.ts'
import { ConfirmByName } from '../../../ui/confirm.tsx'
import { Source } from '../../../ui/details.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { FormDialog } from '../../../ui/form.tsx'
import { Menu, MenuItem } from '../../../ui/menu.tsx'
import { toast } from '../../../ui/toast.tsx'
import { t as common } from '../../../ui/words.ts'
import { api } from '../../api.ts'
import { useReplace } from './replace.tsx'
import { t } from './words.ts'

interface Props {
  email: string
  script: FilterScript
  edit(): void
}

export function ScriptActions({ email, script, edit }: Props) {
  const may = useMay()
  const [open, setOpen] = useState<'show' | 'activate' | 'delete'>()
  const dialog = (name: typeof open) => ({ open: open === name, onClose: () => setOpen(undefined) })
  const call = { params: { name: script.name }, query: { email } }
  const mayChange = may<'POST /filters/'>('write') && !script.managed
  return (
    <>
      <Menu name={common.actionsFor(script.name)}>
        <MenuItem onClick={() => setOpen('show')}>{t.show}</MenuItem>
        {mayChange && <MenuItem onClick={edit}>{t.edit}</MenuItem>}
        {mayChange && !script.active && (
          <MenuItem onClick={() => setOpen('activate')}>{t.activate}</MenuItem>
        )}
        {mayChange && (
          <MenuItem danger onClick={() => setOpen('delete')}>
            {t.remove}
          </MenuItem>
        )}
      </Menu>
      <Dialog {...dialog('show')} title={script.name} size="wide">
        <div class="stack">
          {script.managed && <p class="note">{t.ownHint}</p>}
          <Source label={t.content} text={script.content.replaceAll('\r\n', '\n')} />
        </div>
      </Dialog>
      <Activate {...dialog('activate')} {...{ email, script }} />
      <ConfirmByName
        name={script.name}
        {...dialog('delete')}
        title={t.removeTitle(script.name)}
        submit={t.remove}
        onConfirm={async (idempotencyKey) => {
          await api.delete('/filters/{name}', { ...call, idempotencyKey })
          forget('filters')
          toast(t.removed(script.name))
        }}
      >
        <p>{t.removeHint}</p>
      </ConfirmByName>
    </>
  )
}

function Activate({
  email,
  script,
  ...dialog
}: Omit<Props, 'edit'> & { open: boolean; onClose(): void }) {
  const replace = useReplace()
  return (
    <FormDialog
      {...dialog}
      title={t.activateTitle(script.name)}
      submit={t.activate}
      onSubmit={(values, idempotencyKey) =>
        replace.save(values, async (body) => {
          await api.put('/filters/{name}/activate', {
            params: { name: script.name },
            query: { email },
            body,
            idempotencyKey,
          })
          forget('filters')
          toast(t.activated(script.name))
        })
      }
    >
      <p>{t.activateHint}</p>
      {replace.field}
    </FormDialog>
  )
}

import { useState } from 'preact/hooks'
import { ApiError } from '../../api/client.ts'
import type { Alias } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t } from './words.ts'

/** These routes answer 200 with a result for each alias; one that failed is an error here. */
function orThrow(results: readonly { status: string; msg: string }[]): void {
  const failed = results.find(({ status }) => status === 'error')
  if (failed) throw new ApiError({ status: 400, message: failed.msg })
}

async function change(id: string, attr: { destination?: string; active?: boolean }, key?: string) {
  orThrow(
    await api.post('/aliases/edit', {
      body: { items: [id], attr },
      ...(key && { idempotencyKey: key }),
    }),
  )
  forget('aliases')
}

async function setActive({ id, source }: Alias, active: boolean): Promise<void> {
  await change(id, { active })
  toast(active ? t.on(source) : t.off(source), () => change(id, { active: !active }))
}

export function AliasActions({ alias }: { alias: Alias }) {
  const may = useMay()
  const [open, setOpen] = useState<'edit' | 'delete'>()
  const { id, source, destination, active } = alias
  const close = () => setOpen(undefined)
  if (!may<'POST /aliases/edit'>('write')) return null
  return (
    <>
      <Menu name={common.actionsFor(source)}>
        <MenuItem onClick={() => setOpen('edit')}>{t.edit}</MenuItem>
        <MenuItem onClick={() => setActive(alias, !alias.active)}>
          {alias.active ? t.deactivate : t.activate}
        </MenuItem>
        <MenuItem danger onClick={() => setOpen('delete')}>
          {t.remove}
        </MenuItem>
      </Menu>
      <FormDialog
        open={open === 'edit'}
        onClose={close}
        title={t.editTitle(source)}
        submit={common.save}
        onSubmit={async (values, key) => {
          await change(id, { destination: values.text('destination') }, key)
          toast(t.changed(source))
        }}
      >
        <Field
          label={t.destination}
          name="destination"
          required
          value={alias.destination}
          hint={t.destinationHint}
          autocomplete="off"
        />
      </FormDialog>
      <Confirm
        open={open === 'delete'}
        onClose={close}
        title={t.removeTitle(source)}
        submit={t.remove}
        danger
        onConfirm={async (idempotencyKey) => {
          orThrow(await api.post('/aliases/delete', { body: [id], idempotencyKey }))
          forget('aliases')
          toast(t.removed(source), async () => {
            await api.post('/aliases/add', { body: { source, destination, active } })
            forget('aliases')
          })
        }}
      >
        <p>{t.removeHint}</p>
      </Confirm>
    </>
  )
}

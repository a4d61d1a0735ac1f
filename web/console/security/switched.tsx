import { useState } from 'preact/hooks'
import { forget } from '../../lib/query.ts'
import { ConfirmByNameWithReason, ConfirmWithReason } from '../../ui/confirm.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { Badge } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { t } from './words.ts'

export const OnOff = ({ on }: { on: boolean }) => (
  <Badge tone={on ? 'good' : ''}>{on ? t.on : t.off}</Badge>
)

interface Props {
  name: string
  on: boolean
  edit?: (() => void) | undefined
  turn(on: boolean, reason: string, idempotencyKey: string): Promise<unknown>
  remove(reason: string, idempotencyKey: string): Promise<unknown>
  /** The consequences of the deletion. */
  hint?: string
}

/** The menu of a rule or policy: edit, turn on or off, delete. Each needs a reason. */
export function RuleMenu({ name, on, edit, turn, remove, hint = t.removeHint }: Props) {
  const [open, setOpen] = useState<'turn' | 'remove'>()
  const dialog = (one: 'turn' | 'remove') => ({
    open: open === one,
    onClose: () => setOpen(undefined),
  })
  return (
    <>
      <Menu name={common.actionsFor(name)}>
        {edit && <MenuItem onClick={edit}>{t.edit}</MenuItem>}
        <MenuItem onClick={() => setOpen('turn')}>{on ? t.turnOff : t.turnOn}</MenuItem>
        <MenuItem danger onClick={() => setOpen('remove')}>
          {t.remove}
        </MenuItem>
      </Menu>
      <ConfirmWithReason
        {...dialog('turn')}
        kind="turn"
        title={t.turnTitle(name, !on)}
        submit={on ? t.turnOff : t.turnOn}
        onConfirm={async (reason, key) => {
          await turn(!on, reason, key)
          forget('security')
          toast(t.changed)
        }}
      >
        <p>{t.turnHint}</p>
      </ConfirmWithReason>
      <ConfirmByNameWithReason
        name={name}
        {...dialog('remove')}
        kind="remove"
        title={t.removeTitle(name)}
        submit={t.remove}
        onConfirm={async (reason, key) => {
          await remove(reason, key)
          forget('security')
          toast(t.removed)
        }}
      >
        <p>{hint}</p>
      </ConfirmByNameWithReason>
    </>
  )
}

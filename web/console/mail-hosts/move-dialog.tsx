import { useState } from 'preact/hooks'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { RowButton } from '../../ui/buttons.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { toast } from '../../ui/toast.tsx'
import { api } from '../api.ts'
import { t } from './words.ts'

const ALL = 100

/** The names of all mail hosts, for choices. */
export const useHosts = () =>
  useQuery('mail-hosts all', () => api.get('/platform/mail-hosts', { query: { per_page: ALL } }))
    .data?.items ?? []

/** The backends that a mailbox can be moved to. One is not enough for a move. */
export function useTargets() {
  const may = useMay()
  const targets = useHosts().filter(
    ({ roles, state }) => roles.includes('backend') && state === 'active',
  )
  const mayMove = may<'POST /platform/mailbox-moves'>('operator')
  return mayMove ? targets : []
}

export const MoveDialog = ({
  email,
  ...dialog
}: {
  email?: string
  open: boolean
  onClose(): void
}) => (
  <FormDialog
    {...dialog}
    title={t.move}
    submit={t.move}
    onSubmit={async (values, idempotencyKey) => {
      const { moves } = await api.post('/platform/mailbox-moves', {
        body: { email: values.text('email'), host_id: values.text('host_id') },
        idempotencyKey,
      })
      forget('mailbox-moves')
      forget('mail-hosts')
      toast(t.moveStarted(moves.length))
    }}
  >
    <Field
      label={t.mailbox}
      name="email"
      type="email"
      required
      autocomplete="off"
      hint={t.moveHint}
      value={email}
    />
    <Select
      label={t.target}
      name="host_id"
      options={useTargets().map(({ id, name }) => [id, name])}
    />
  </FormDialog>
)

/** Moves the mailbox of a row; left out where there is one host. */
export function MoveMailbox({ email }: { email: string }) {
  const [open, setOpen] = useState(false)
  if (useTargets().length < 2) return null
  return (
    <>
      <RowButton name={email} onClick={() => setOpen(true)}>
        {t.moveRow}
      </RowButton>
      {open && <MoveDialog open email={email} onClose={() => setOpen(false)} />}
    </>
  )
}

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { visible } from '../lib/visible.ts'
import { Field } from './field.tsx'
import { FormDialog, type Values } from './form.tsx'
import { t } from './words.ts'

interface Props {
  title: string
  open: boolean
  onClose(): void
  /** The verb on the button, e.g. "Suspend". */
  submit: string
  /** The consequences, for the text of the dialog. */
  children: ComponentChildren
  danger?: boolean
}

/** For a change that can be undone. */
export const Confirm = ({
  onConfirm,
  children,
  ...dialog
}: Props & { onConfirm(idempotencyKey: string): Promise<unknown> }) => (
  <FormDialog {...dialog} onSubmit={(_values, key) => onConfirm(key)}>
    <div class="prose">{children}</div>
  </FormDialog>
)

/** For a change that cannot be undone: the name has to be typed. */
export const ConfirmByName = ({
  onConfirm,
  children,
  ...dialog
}: Props & { name: string; onConfirm(idempotencyKey: string): Promise<unknown> }) => (
  <NameDialog {...dialog} onSubmit={(_values, key) => onConfirm(key)}>
    <div class="prose">{children}</div>
  </NameDialog>
)

function NameDialog({
  name,
  onClose,
  children,
  ...dialog
}: Props & { name: string; onSubmit(values: Values, idempotencyKey: string): Promise<unknown> }) {
  const [typed, setTyped] = useState('')
  const close = () => {
    onClose()
    setTyped('')
  }
  return (
    <FormDialog
      {...dialog}
      onClose={close}
      danger
      disabled={visible(typed.trim()) !== visible(name.trim())}
    >
      {children}
      <Field
        label={t.typeToConfirm(visible(name))}
        name="confirmation"
        autocomplete="off"
        required
        onInput={setTyped}
      />
    </FormDialog>
  )
}

const MIN_REASON = 3
const reasons = new Map<string, string>()

interface ReasonProps extends Props {
  /** Dialogs of one kind share the suggestion. */
  kind: string
  onConfirm(reason: string, idempotencyKey: string): Promise<unknown>
}

/** For changes of operators that the API wants a reason for. The last reason of a kind is suggested. */
export const ConfirmWithReason = ({ kind, onConfirm, children, ...dialog }: ReasonProps) => (
  <FormDialog {...dialog} onSubmit={withReason(kind, onConfirm)}>
    <div class="prose">{children}</div>
    <Reason kind={kind} />
  </FormDialog>
)

/** For changes of operators that cannot be undone: a reason, and the name typed. */
export const ConfirmByNameWithReason = ({
  kind,
  onConfirm,
  children,
  ...dialog
}: ReasonProps & { name: string }) => (
  <NameDialog {...dialog} onSubmit={withReason(kind, onConfirm)}>
    <div class="prose">{children}</div>
    <Reason kind={kind} />
  </NameDialog>
)

const withReason =
  (kind: string, onConfirm: ReasonProps['onConfirm']) => async (values: Values, key: string) => {
    const reason = values.text('reason')
    await onConfirm(reason, key)
    reasons.set(kind, reason)
  }

const Reason = ({ kind }: { kind: string }) => (
  <Field
    label={t.reason}
    name="reason"
    hint={t.reasonHint}
    required
    minLength={MIN_REASON}
    autocomplete="off"
    value={reasons.get(kind)}
  />
)

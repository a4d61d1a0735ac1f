import type { ComponentChildren } from 'preact'
import { Copy, Download } from './copy.tsx'
import { Dialog } from './dialog.tsx'
import { CheckBox } from './field.tsx'
import { Form } from './form.tsx'
import { t } from './words.ts'

interface Props {
  title: string
  /** undefined: closed. The caller forgets the secret in `onClose`. */
  secret: string | undefined
  fileName: string
  onClose(): void
  children?: ComponentChildren
}

/** Shows a secret once. It is in no address, no storage and no toast. */
export const SecretDialog = ({ title, secret, fileName, onClose, children }: Props) => (
  <Dialog title={title} open={secret !== undefined} onClose={onClose} locked size="wide">
    <Form submit={t.done} onSubmit={async () => onClose()}>
      <p>{t.shownOnce}</p>
      <Secret value={secret ?? ''} label={title} fileName={fileName} />
      {children}
      <CheckBox label={t.stored} name="stored" required />
    </Form>
  </Dialog>
)

/** A value to copy or save, in one line for each line of it. */
export const Secret = ({
  value,
  label,
  fileName,
}: {
  value: string
  label: string
  fileName?: string
}) => (
  <div class="secret">
    <pre>{value}</pre>
    <p class="actions">
      <Copy text={value} label={label} />
      {fileName && <Download name={fileName} text={`${value}\n`} />}
    </p>
  </div>
)

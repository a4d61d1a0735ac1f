import { type ComponentChildren, createContext } from 'preact'
import { useContext, useRef } from 'preact/hooks'
import type { ApiError } from '../api/client.ts'
import { useCountdown } from '../lib/countdown.ts'
import { forget, isNotFound, useAction } from '../lib/query.ts'
import { Dialog } from './dialog.tsx'
import { Failed } from './failed.tsx'
import { t } from './words.ts'

interface FormState {
  errors: Record<string, string>
  /** The names of the fields; messages for other names are shown at the top. */
  known: Set<string>
}

const State = createContext<FormState>({ errors: {}, known: new Set() })

/** The message of the server for a field of the form. */
export function useFieldError(name: string): string | undefined {
  const { errors, known } = useContext(State)
  known.add(name)
  return errors[name]
}

/** The values of a form: trimmed texts, and the states of its checkboxes. */
export class Values {
  readonly #data: FormData
  constructor(form: HTMLFormElement) {
    this.#data = new FormData(form)
  }
  text(name: string): string {
    return String(this.#data.get(name) ?? '').trim()
  }
  /** Passwords keep their spaces. */
  secret(name: string): string {
    return String(this.#data.get(name) ?? '')
  }
  /** null where nothing was typed. */
  optional(name: string): string | null {
    return this.text(name) || null
  }
  checked(name: string): boolean {
    return this.#data.get(name) === 'on'
  }
  number(name: string): number | undefined {
    const text = this.text(name)
    return text === '' ? undefined : Number(text)
  }
  file(name: string): File {
    return this.#data.get(name) as File
  }
  all(name: string): string[] {
    return this.#data.getAll(name).map(String)
  }
}

export interface FormProps {
  /** The words on the button, e.g. "Add mailbox". */
  submit: string
  onSubmit(values: Values, idempotencyKey: string): Promise<unknown>
  onCancel?: (() => void) | undefined
  danger?: boolean
  disabled?: boolean
  children: ComponentChildren
}

/** A form that is sent once at a time and shows what the server said, at the field where it can. */
export function Form({ submit, onSubmit, onCancel, danger, disabled, children }: FormProps) {
  const { run, busy, error } = useAction((key, form: HTMLFormElement) =>
    onSubmit(new Values(form), key),
  )
  const known = useRef(new Set<string>()).current
  const wait = useCountdown(error)
  const send = (event: SubmitEvent) => {
    event.preventDefault()
    void run(event.currentTarget as HTMLFormElement)
  }
  return (
    <State.Provider value={{ errors: error?.fields ?? {}, known }}>
      <form class="stack" onSubmit={send}>
        <Failed error={error && unplaced(error, known)} />
        {children}
        <footer>
          {onCancel && (
            <button type="button" onClick={onCancel}>
              {t.cancel}
            </button>
          )}
          <button
            type="submit"
            class={danger ? 'danger' : 'primary'}
            disabled={busy || disabled || wait > 0}
            aria-busy={busy}
          >
            {wait > 0 ? t.tryAgainIn(wait) : submit}
          </button>
        </footer>
      </form>
    </State.Provider>
  )
}

/** The error, unless every message of it is shown at a field. */
function unplaced(error: ApiError, known: Set<string>): ApiError | undefined {
  const names = Object.keys(error.fields)
  return names.length > 0 && names.every((name) => known.has(name)) ? undefined : error
}

/** A form in a dialog, which closes when the server has accepted it. */
export function FormDialog({
  title,
  open,
  onClose,
  onSubmit,
  size = 'normal',
  ...form
}: Omit<FormProps, 'onCancel'> & {
  title: string
  open: boolean
  onClose(): void
  size?: 'normal' | 'wide'
}) {
  const isGone = useRef(false)
  const close = () => {
    onClose()
    // Not before: the row that is gone has this dialog with the message.
    if (isGone.current) forget('')
    isGone.current = false
  }
  return (
    <Dialog title={title} open={open} onClose={close} size={size}>
      <Form
        {...form}
        onCancel={close}
        onSubmit={async (values, key) => {
          try {
            await onSubmit(values, key)
          } catch (error) {
            isGone.current = isNotFound(error)
            throw error
          }
          close()
        }}
      />
    </Dialog>
  )
}

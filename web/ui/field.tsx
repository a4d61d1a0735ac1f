import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { useFieldError } from './form.tsx'

interface Common {
  label: string
  /** The name in the form and, where the API has one, of the field of the body. */
  name: string
  hint?: ComponentChildren
  required?: boolean
}

interface InputProps extends Common {
  type?:
    | 'text'
    | 'email'
    | 'password'
    | 'number'
    | 'url'
    | 'datetime-local'
    | 'date'
    | 'search'
    | 'file'
  value?: string | number | undefined
  autocomplete?:
    | 'off'
    | 'username'
    | 'current-password'
    | 'new-password'
    | 'one-time-code'
    | 'name'
    | 'email'
    | 'organization'
  inputMode?: 'numeric' | 'email' | 'url'
  minLength?: number
  maxLength?: number
  min?: number | string
  max?: number | string
  step?: number | string
  pattern?: string
  autofocus?: boolean
  placeholder?: string
  /** The endings of a file. */
  accept?: string
  /** The id of a datalist with suggestions. */
  list?: string
  /** Text after the control, e.g. a unit or the domain of an address. */
  suffix?: ComponentChildren
  onInput?(value: string): void
}

/** A label, a control, a hint and the message of the server, tied together for screen readers. */
export function Field({ label, name, hint, suffix, onInput, value, ...input }: InputProps) {
  const { id, error, described } = useField(name, hint)
  const control = (
    <input
      id={id}
      name={name}
      defaultValue={value === undefined ? undefined : String(value)}
      aria-describedby={described}
      aria-invalid={error ? 'true' : undefined}
      onInput={
        onInput && ((event: Event) => onInput((event.currentTarget as HTMLInputElement).value))
      }
      {...(input as { type: 'text' })}
    />
  )
  return (
    <Frame {...{ id, label, hint, error }}>
      {suffix ? (
        <div class="affixed">
          {control}
          <span class="muted">{suffix}</span>
        </div>
      ) : (
        control
      )}
    </Frame>
  )
}

export function TextArea({
  label,
  name,
  hint,
  value,
  rows = 5,
  onInput,
  ...more
}: Common & {
  value?: string
  rows?: number
  placeholder?: string
  maxLength?: number
  onInput?(value: string): void
}) {
  const { id, error, described } = useField(name, hint)
  return (
    <Frame {...{ id, label, hint, error }}>
      <textarea
        id={id}
        name={name}
        rows={rows}
        defaultValue={value}
        aria-describedby={described}
        aria-invalid={error ? 'true' : undefined}
        onInput={onInput && ((event) => onInput(event.currentTarget.value))}
        {...more}
      />
    </Frame>
  )
}

export function Select({
  label,
  name,
  hint,
  value,
  options,
  onChange,
  ...more
}: Common & {
  value?: string
  options: readonly (readonly [value: string, text: string])[]
  onChange?(value: string): void
}) {
  const { id, error, described } = useField(name, hint)
  return (
    <Frame {...{ id, label, hint, error }}>
      <select
        id={id}
        name={name}
        aria-describedby={described}
        aria-invalid={error ? 'true' : undefined}
        onChange={onChange && ((event) => onChange(event.currentTarget.value))}
        {...more}
      >
        {options.map(([one, text]) => (
          <option key={one} value={one} selected={one === value}>
            {text}
          </option>
        ))}
      </select>
    </Frame>
  )
}

export function CheckBox({
  label,
  name,
  hint,
  checked = false,
  onChange,
  required,
}: Common & { checked?: boolean; onChange?(checked: boolean): void }) {
  const { id, error, described } = useField(name, hint)
  return (
    <div class="field check">
      <input
        id={id}
        type="checkbox"
        name={name}
        defaultChecked={checked}
        required={required}
        aria-describedby={described}
        onChange={onChange && ((event) => onChange(event.currentTarget.checked))}
      />
      <label for={id}>{label}</label>
      <Notes {...{ id, hint, error }} />
    </div>
  )
}

function useField(name: string, hint: ComponentChildren) {
  const id = useId()
  const error = useFieldError(name)
  const described =
    [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || undefined
  return { id, error, described }
}

interface Notes {
  id: string
  hint: ComponentChildren
  error: string | undefined
}

const Frame = ({
  id,
  label,
  hint,
  error,
  children,
}: Notes & { label: string; children: ComponentChildren }) => (
  <div class="field">
    <label for={id}>{label}</label>
    {children}
    <Notes {...{ id, hint, error }} />
  </div>
)

const Notes = ({ id, hint, error }: Notes) => (
  <>
    {hint && (
      <p id={`${id}-hint`} class="hint">
        {hint}
      </p>
    )}
    {error && (
      <p id={`${id}-error`} class="wrong" lang="en">
        {error}
      </p>
    )}
  </>
)

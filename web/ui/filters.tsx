import { useEffect, useState } from 'preact/hooks'

const TYPING_MS = 400

interface Props {
  label: string
  value: string | undefined
  change(value: string): void
}

/** A filter of a list with a text of its own, e.g. a sender. */
export function TextFilter({ label, value = '', change }: Props) {
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  useEffect(() => {
    if (typed === value) return
    const timer = setTimeout(() => change(typed.trim()), TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      value={typed}
      onInput={(event) => setTyped(event.currentTarget.value)}
    />
  )
}

/** A filter of a list with a day; the API includes the whole day. */
export const DateFilter = ({ label, value, change }: Props) => (
  <label class="inline-field">
    <span class="muted">{label}</span>
    <input
      type="date"
      value={value ?? ''}
      onChange={(event) => change(event.currentTarget.value)}
    />
  </label>
)

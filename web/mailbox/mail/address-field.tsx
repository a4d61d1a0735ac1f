import { t } from './words.ts'

/** Addresses as text, several with commas. */
export const AddressField = ({
  name,
  label,
  value,
  autofocus = false,
  change,
}: {
  name: 'to' | 'cc' | 'bcc'
  label: string
  value: string
  autofocus?: boolean
  change(value: string): void
}) => (
  <div class="field">
    <label for={`compose-${name}`}>{label}</label>
    <input
      id={`compose-${name}`}
      inputMode="email"
      autocomplete="off"
      autofocus={autofocus}
      value={value}
      aria-describedby={name === 'to' ? 'compose-to-hint' : undefined}
      onInput={(event) => change(event.currentTarget.value)}
    />
    {name === 'to' && (
      <p id="compose-to-hint" class="hint">
        {t.addressHint}
      </p>
    )}
  </div>
)

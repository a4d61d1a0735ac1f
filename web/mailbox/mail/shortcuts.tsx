import { useEffect, useRef, useState } from 'preact/hooks'
import { remember, remembered } from '../../lib/language.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { t } from './words.ts'

const areOn = () => remembered('shortcuts') !== 'off'

/** Single keys, which can be turned off (WCAG 2.1.4). They do nothing while a person types. */
export function useShortcuts(keys: Record<string, () => void>): void {
  const latest = useRef(keys)
  latest.current = keys
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const act = latest.current[event.key]
      if (!act || !areOn() || isTyping(event)) return
      event.preventDefault()
      act()
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [])
}

function isTyping({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey) return true
  if (document.querySelector('dialog[open], :popover-open')) return true
  const field = (target as Element).closest('input, textarea, select, [contenteditable]')
  return field !== null && (field as HTMLInputElement).type !== 'checkbox'
}

/** The list of the keys, opened with `?`, and the switch for them. */
export function ShortcutHelp({ open, onClose }: { open: boolean; onClose(): void }) {
  const [on, setOn] = useState(areOn)
  return (
    <Dialog title={t.shortcuts} open={open} onClose={onClose}>
      <dl class="details">
        {Object.entries(t.keys).map(([key, name]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{name}</dd>
          </div>
        ))}
      </dl>
      <label class="actions">
        <input
          type="checkbox"
          checked={on}
          onChange={({ currentTarget: { checked } }) => {
            remember('shortcuts', checked ? 'on' : 'off')
            setOn(checked)
          }}
        />
        {t.shortcutsOn}
      </label>
    </Dialog>
  )
}

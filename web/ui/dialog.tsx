import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { visible } from '../lib/visible.ts'
import { Icon } from './icon.tsx'
import { cross } from './icons.ts'
import { t } from './words.ts'

interface Props {
  title: string
  open: boolean
  onClose(): void
  /** `wide` for tables and previews. */
  size?: 'normal' | 'wide'
  /** Without a way out: for secrets that must be stored, and for a session that has ended. */
  locked?: boolean
  children: ComponentChildren
}

/** The browser's own dialog: it keeps the focus inside, returns it, and closes on Escape. */
export function Dialog({ title, open, onClose, size = 'normal', locked = false, children }: Props) {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  // A list has several dialogs in each row, and most of them are never opened.
  const wasOpened = useRef(false)
  wasOpened.current ||= open
  useEffect(() => {
    const element = dialog.current
    if (!element) return
    if (open && !element.open) {
      element.showModal()
      // The browser chose the first control, which is the button that closes.
      element.querySelector<HTMLElement>('form :is(input, select, textarea)')?.focus()
    }
    if (!open && element.open) element.close()
  }, [open])
  if (!wasOpened.current) return null
  return (
    <dialog
      ref={dialog}
      class={size}
      aria-labelledby={id}
      onCancel={(event) => locked && event.preventDefault()}
      onClose={() => open && onClose()}
    >
      {open && (
        <>
          <header>
            <h2 id={id}>{visible(title)}</h2>
            {!locked && (
              <button type="button" class="quiet icon" aria-label={t.close} onClick={onClose}>
                <Icon path={cross} />
              </button>
            )}
          </header>
          {children}
        </>
      )}
    </dialog>
  )
}

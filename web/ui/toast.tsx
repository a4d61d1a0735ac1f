import { useEffect, useState } from 'preact/hooks'
import { attempt } from '../lib/attempt.ts'
import { visible } from '../lib/visible.ts'
import { t } from './words.ts'

interface Toast {
  id: number
  text: string
  undo: (() => unknown) | undefined
}

const SHOWN_MS = 6000
let show: (text: string, undo?: () => unknown) => void = () => {}

/** Says what has happened, e.g. "jane@acme.example was added". Never a secret. */
export const toast = (text: string, undo?: () => unknown): void => show(text, undo)

/** Announced to screen readers; takes no focus. */
export function Toasts() {
  const [shown, setShown] = useState<Toast[]>([])
  const remove = (id: number) => setShown((all) => all.filter((one) => one.id !== id))
  useEffect(() => {
    let next = 0
    show = (text, undo) => {
      const id = next++
      setShown((all) => [...all.slice(-2), { id, text, undo }])
      setTimeout(() => remove(id), SHOWN_MS)
    }
  }, [])
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, undo }) => (
        <div key={id} class="toast">
          <p>{visible(text)}</p>
          {undo && (
            <button
              type="button"
              class="small"
              onClick={() => {
                void attempt(undo)
                remove(id)
              }}
            >
              {t.undo}
            </button>
          )}
        </div>
      ))}
    </div>
  )
}

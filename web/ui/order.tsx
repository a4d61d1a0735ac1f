import type { ComponentChildren } from 'preact'
import { t } from './words.ts'

const STEPS: Partial<Record<string, number>> = { ArrowUp: -1, ArrowDown: 1 }

/** Buttons that move an object of an ordered list; the arrow keys do the same on them. */
export function MoveButtons({
  index,
  count,
  moveTo,
  children,
}: {
  index: number
  count: number
  moveTo(place: number): Promise<void>
  /** The name of the object, for screen readers. */
  children: ComponentChildren
}) {
  const move = async (button: HTMLElement, place: number) => {
    if (place < 0 || place === count) return
    await moveTo(place)
    // An element that the browser moves loses the focus.
    button.focus()
  }
  const onArrow = (event: KeyboardEvent, button: HTMLElement) => {
    const step = STEPS[event.key]
    if (step === undefined) return
    event.preventDefault()
    void move(button, index + step)
  }
  const button = (words: string, place: number, isEnd: boolean) => (
    <button
      type="button"
      class="small"
      aria-disabled={isEnd}
      onClick={(event) => void move(event.currentTarget, place)}
      onKeyDown={(event) => onArrow(event, event.currentTarget)}
    >
      {words}
      {children}
    </button>
  )
  return (
    <>
      {button(t.up, index - 1, index === 0)}
      {button(t.down, index + 1, index === count - 1)}
    </>
  )
}

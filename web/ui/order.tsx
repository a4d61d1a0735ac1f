import type { ComponentChildren } from 'preact'
import { Icon } from './icon.tsx'
import { menu } from './icons.ts'
import { t } from './words.ts'

const STEPS: Partial<Record<string, number>> = { ArrowUp: -1, ArrowDown: 1 }

/** Buttons and a handle that move a row of an ordered list; the arrow keys do the same on the buttons. */
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
      <span
        class="grip"
        aria-hidden="true"
        onPointerDown={({ currentTarget, pointerId, button }) =>
          button === 0 && drag(currentTarget, pointerId, index, moveTo)
        }
      >
        <Icon path={menu} />
      </span>
      {button(t.up, index - 1, index === 0)}
      {button(t.down, index + 1, index === count - 1)}
    </>
  )
}

/** Shows where the row would go; moves it there when the pointer is released. */
function drag(
  grip: HTMLElement,
  pointerId: number,
  index: number,
  moveTo: (place: number) => unknown,
): void {
  const rows = [...(grip.closest('ol')?.children ?? [])] as HTMLElement[]
  let place = index
  const mark = (isOver = false) => {
    for (const [at, row] of rows.entries()) {
      const target = at === place ? (at < index ? 'before' : 'after') : ''
      row.dataset.drag = isOver ? '' : at === index ? 'moved' : target
    }
  }
  grip.setPointerCapture(pointerId)
  grip.onpointermove = ({ clientY }) => {
    const under = rows.findIndex((row) => clientY < row.getBoundingClientRect().bottom)
    place = under < 0 ? rows.length - 1 : under
    rows[place]?.scrollIntoView({ block: 'nearest' })
    mark()
  }
  grip.onpointerup = () => place !== index && moveTo(place)
  // Follows the release, and is all that comes when the browser takes the pointer away.
  grip.onlostpointercapture = () => {
    grip.onpointermove = grip.onpointerup = null
    mark(true)
  }
}

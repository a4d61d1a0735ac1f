import type { ComponentChildren } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import { attempt } from '../lib/attempt.ts'
import { Icon } from './icon.tsx'
import { more } from './icons.ts'

interface Props {
  /** The text on the button. Without it the button has three dots. */
  label?: ComponentChildren
  /** The name for screen readers, needed where the button has only dots. */
  name?: string
  children: ComponentChildren
}

/** A button that opens a popover; the browser closes it on Escape or a click elsewhere. */
export function Menu({ label, name, children }: Props) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  // A list has a menu in each row, and most of them are never opened.
  const [wasOpened, setWasOpened] = useState(false)
  const items = () => [...(list.current?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? [])]
  const move = (event: KeyboardEvent) => {
    const all = items()
    const to = target(event.key, all.indexOf(document.activeElement as HTMLElement), all.length)
    if (to === undefined) return
    event.preventDefault()
    all[to]?.focus()
  }
  return (
    <div class="menu-anchor">
      <button
        type="button"
        class={label ? 'quiet' : 'quiet icon small'}
        popovertarget={id}
        aria-haspopup="menu"
        aria-label={name}
      >
        {label ?? <Icon path={more} />}
      </button>
      <div
        id={id}
        ref={list}
        popover="auto"
        role="menu"
        tabIndex={-1}
        class="menu"
        onKeyDown={move}
        onBeforeToggle={() => setWasOpened(true)}
        onToggle={(event) => event.newState === 'open' && items()[0]?.focus()}
        onClick={() => list.current?.hidePopover()}
      >
        {wasOpened && children}
      </div>
    </div>
  )
}

function target(key: string, now: number, count: number): number | undefined {
  if (key === 'ArrowDown') return (now + 1) % count
  if (key === 'ArrowUp') return (now - 1 + count) % count
  if (key === 'Home') return 0
  if (key === 'End') return count - 1
  return undefined
}

export const MenuItem = ({
  onClick,
  danger,
  children,
}: {
  onClick(): unknown
  danger?: boolean
  children: ComponentChildren
}) => (
  <button
    type="button"
    role="menuitem"
    class={danger ? 'danger-text' : ''}
    onClick={() => void attempt(onClick)}
  >
    {children}
  </button>
)

export const MenuChoice = ({
  chosen,
  onClick,
  children,
}: {
  chosen: boolean
  onClick(): void
  children: ComponentChildren
}) => (
  <button type="button" role="menuitemradio" aria-checked={chosen} onClick={onClick}>
    {children}
  </button>
)

export const MenuGroup = ({ title, children }: { title: string; children: ComponentChildren }) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset has no place in a menu.
  <div role="group" aria-label={title}>
    <p class="hint" aria-hidden="true">
      {title}
    </p>
    {children}
  </div>
)

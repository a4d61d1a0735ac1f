import type { ComponentChildren } from 'preact'

/** A region that scrolls sideways; the keyboard reaches it, so that it can be scrolled without a mouse. */
export const Scroll = ({
  label,
  busy = false,
  children,
}: {
  label: string
  busy?: boolean
  children: ComponentChildren
}) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: WCAG wants scrolling regions to be reachable.
  <section class="scroll" aria-label={label} tabIndex={0} aria-busy={busy}>
    {children}
  </section>
)

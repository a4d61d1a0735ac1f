import type { ComponentChildren } from 'preact'
import { Icon } from './icon.tsx'
import { plus } from './icons.ts'
import { Text } from './page.tsx'

interface Props {
  onClick(): void
  children: ComponentChildren
}

/** Opens the form for a new row of a list. */
export const AddButton = ({ onClick, children }: Props) => (
  <button type="button" class="primary" onClick={onClick}>
    <Icon path={plus} size={16} />
    {children}
  </button>
)

/** A button in a row of a list. The name of the row is for screen readers. */
export const RowButton = ({ name, onClick, children }: Props & { name: string | null }) => (
  <button type="button" class="small" onClick={onClick}>
    {children}
    <span class="hidden">
      {' '}
      <Text>{name}</Text>
    </span>
  </button>
)

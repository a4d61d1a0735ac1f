import type { ComponentChildren } from 'preact'
import { attempt } from '../lib/attempt.ts'
import { useAction } from '../lib/query.ts'
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
export function RowButton({
  name,
  onClick,
  children,
}: {
  name: string | null
  onClick(): unknown
  children: ComponentChildren
}) {
  const { run } = useAction(() => attempt(onClick))
  return (
    <button type="button" class="small" onClick={() => void run()}>
      {children}
      <span class="hidden">
        {' '}
        <Text>{name}</Text>
      </span>
    </button>
  )
}

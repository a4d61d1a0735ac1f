import type { ComponentChildren } from 'preact'
import { visible } from '../lib/visible.ts'
import { Scroll } from './scroll.tsx'
import { t } from './words.ts'

/** The fields of one object. A field without a value is left out. */
export const Details = ({
  rows,
}: {
  rows: readonly (readonly [name: string, value: ComponentChildren])[]
}) => (
  <dl class="details">
    {rows
      .filter(([, value]) => value !== null && value !== undefined && value !== '')
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
)

/** Text of several lines as it is, e.g. headers or JSON. Nothing in it becomes markup. */
export const Source = ({ label, text }: { label: string; text: string }) => (
  <Scroll label={label}>
    <pre class="source">{text === '' ? t.none : text.split('\n').map(visible).join('\n')}</pre>
  </Scroll>
)

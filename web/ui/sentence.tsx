import type { ComponentChildren } from 'preact'

/** "when a and b": parts with a word in front and one between them. */
export const joined = (parts: ComponentChildren[], word: string, start: string, end = '') => (
  <>
    {start}{' '}
    {parts.map((part, index) => (
      <span key={index}>
        {index > 0 && ` ${word} `}
        {part}
      </span>
    ))}
    {end}
  </>
)

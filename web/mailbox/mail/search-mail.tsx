import { useEffect, useState } from 'preact/hooks'
import { Choice } from '../../ui/list.tsx'
import { t } from './words.ts'

const TYPING_MS = 400

type State = Record<'q' | 'where' | 'only', string>

/** The search field and the filters of a folder; what is asked is in the address. */
export function SearchMail({
  state,
  change,
  help,
}: {
  state: State
  change(changes: Partial<State & { page: string }>): void
  help(): void
}) {
  const { q } = state
  const [typed, setTyped] = useState(q)
  useEffect(() => setTyped(q), [q])
  useEffect(() => {
    if (typed.trim() === q) return
    const timer = setTimeout(() => change({ q: typed.trim(), page: '' }), TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <search class="bar">
      <input
        class="grow"
        type="search"
        aria-label={t.search}
        placeholder={t.search}
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      {q && (
        <select
          aria-label={t.where}
          value={state.where}
          onChange={(event) => change({ where: event.currentTarget.value, page: '' })}
        >
          <option value="">{t.here}</option>
          <option value="all">{t.everywhere}</option>
        </select>
      )}
      <Choice
        label={t.only}
        value={state.only}
        options={Object.entries(t.onlyOnes)}
        change={(only) => change({ only, page: '' })}
      />
      <button type="button" class="quiet keys-button" onClick={help} aria-label={t.shortcuts}>
        <kbd>?</kbd>
      </button>
    </search>
  )
}

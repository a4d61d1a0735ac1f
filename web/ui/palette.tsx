import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { go } from '../lib/router.tsx'
import { Text } from './page.tsx'
import { t } from './words.ts'

export interface Command {
  title: string
  to: string
  /** The kind of result, e.g. "Mailbox". */
  kind?: string
}

const MAX_SHOWN = 12
const TYPING_MS = 150
const MIN_SEARCH = 2

let open: () => void = () => {}
export const openPalette = (): void => open()

/** Ctrl+K: every screen and every object in a few letters, as the combobox pattern of ARIA. */
export function Palette({
  commands,
  search,
}: {
  commands: readonly Command[]
  search(text: string): Promise<Command[]>
}) {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const found = useFound(text, search)
  useEffect(() => setAt(0), [text])
  useEffect(() => {
    open = () => {
      setText('')
      if (!dialog.current?.open) dialog.current?.showModal()
    }
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      open()
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [])

  const shown = [
    ...commands.filter(({ title }) => title.toLowerCase().includes(text.trim().toLowerCase())),
    ...found,
  ].slice(0, MAX_SHOWN)
  const choose = (command: Command | undefined) => {
    if (!command) return
    dialog.current?.close()
    go(command.to)
  }
  const move = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setAt((now) => Math.min(shown.length - 1, now + 1))
    else if (event.key === 'ArrowUp') setAt((now) => Math.max(0, now - 1))
    else if (event.key === 'Enter') choose(shown[at])
    else return
    event.preventDefault()
  }
  return (
    <dialog ref={dialog} class="palette" aria-label={t.palette}>
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={shown[at] ? `${id}-${at}` : undefined}
        aria-label={t.paletteHint}
        placeholder={t.paletteHint}
        autocomplete="off"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={move}
      />
      <div id={id} role="listbox" class="results" tabIndex={-1} aria-label={t.results}>
        {shown.map((command, index) => (
          <div
            key={command.to + command.title}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onPointerDown={() => choose(command)}
          >
            <Text>{command.title}</Text>
            {command.kind && <span class="hint">{command.kind}</span>}
          </div>
        ))}
      </div>
      {shown.length === 0 && <p class="pad muted">{t.noResults}</p>}
    </dialog>
  )
}

/** The results of the server for the text; a response for an older text is dropped. */
function useFound(text: string, search: (text: string) => Promise<Command[]>): Command[] {
  const [found, setFound] = useState<Command[]>([])
  useEffect(() => {
    setFound([])
    if (text.trim().length < MIN_SEARCH) return
    let isCurrent = true
    const timer = setTimeout(() => {
      search(text.trim()).then(
        (more) => isCurrent && setFound(more),
        () => {},
      )
    }, TYPING_MS)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [text])
  return found
}

import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Empty, Heading } from './page.tsx'
import { t } from './words.ts'

/** Components of a script that is loaded when the first of them is shown. */
export function later<Parts>(load: () => Promise<Parts>) {
  let loaded: Parts | undefined
  return <Props extends object>(choose: (parts: Parts) => ComponentType<Props>) =>
    function Later(props: Props) {
      const [, redraw] = useState({})
      const [hasFailed, setFailed] = useState(false)
      useEffect(() => {
        if (loaded) return
        load().then(
          (parts) => {
            loaded = parts
            redraw({})
          },
          () => setFailed(true),
        )
      }, [])
      if (loaded) {
        const Loaded = choose(loaded)
        return <Loaded {...props} />
      }
      // After an upgrade the file of an open page may be gone; the page itself names the new one.
      return hasFailed ? <Missing /> : <p class="muted" aria-busy="true" />
    }
}

const Missing = () => (
  <>
    <Heading title={t.notLoaded} />
    <Empty
      title={t.notLoaded}
      action={
        <button type="button" class="primary" onClick={() => location.reload()}>
          {t.reload}
        </button>
      }
    >
      {t.notLoadedHint}
    </Empty>
  </>
)

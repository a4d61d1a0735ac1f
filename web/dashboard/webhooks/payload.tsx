import { Copy } from '../../ui/copy.tsx'
import { Source } from '../../ui/details.tsx'
import { t } from './dead-letters.words.ts'

/** The envelope of an event as it was sent: text, never markup. */
export function Payload({ payload }: { payload: object | null }) {
  if (payload === null) return <p class="muted">{t.noPayload}</p>
  const text = JSON.stringify(payload, null, 2)
  return (
    <>
      <h3>{t.payload}</h3>
      <p class="muted">
        {t.payloadHint} <Copy text={text} label={t.payload} />
      </p>
      <Source label={t.payload} text={text} />
    </>
  )
}

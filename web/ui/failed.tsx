import { type ApiError, UNREACHABLE } from '../api/client.ts'
import { useCountdown } from '../lib/countdown.ts'
import { Copy } from './copy.tsx'
import { t } from './words.ts'

/** An error in the words of the API, with the correlation id that the logs have too. */
export function Failed({ error, again }: { error: ApiError | undefined; again?: () => void }) {
  const wait = useCountdown(error)
  if (!error) return null
  const fields = Object.entries(error.fields)
  return (
    <div class="failed" role="alert">
      <p lang={error.message === UNREACHABLE ? undefined : 'en'}>{sentence(error)}</p>
      {fields.length > 0 && (
        <ul lang="en">
          {fields.map(([name, message]) => (
            <li key={name}>
              <code>{name}</code> {message}
            </li>
          ))}
        </ul>
      )}
      {(again || error.correlationId) && (
        <p class="actions">
          {again && (
            <button type="button" class="small" onClick={again} disabled={wait > 0}>
              {wait > 0 ? t.tryAgainIn(wait) : t.tryAgain}
            </button>
          )}
          {error.correlationId && (
            <span class="reference">
              {t.reference} <code>{error.correlationId}</code>{' '}
              <Copy text={error.correlationId} label={t.reference} />
            </span>
          )}
        </p>
      )}
    </div>
  )
}

function sentence(error: ApiError): string {
  if (error.message === UNREACHABLE) return t.unreachable
  if (error.message === 'Operator session IP mismatch') return t.addressMismatch
  return error.message
}

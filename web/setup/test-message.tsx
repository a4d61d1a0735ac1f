import { useState } from 'preact/hooks'
import type { Post } from '../api/schema.ts'
import { useAction, useQuery } from '../lib/query.ts'
import { Failed } from '../ui/failed.tsx'
import { Text } from '../ui/page.tsx'
import { operator } from './clients.ts'
import { t } from './words.ts'

const LOOK_SECONDS = 2
const WAIT_MS = 90_000

type Sent = Post['/platform/system-mail/test']['data'] & { at: number }

/** Sends a message to the new mailbox and says whether it arrived. Not offered without mail servers. */
export function TestMessage({ to }: { to: string }) {
  const { data: server } = useQuery('system-mail', () => operator.get('/platform/system-mail'))
  const [result, setResult] = useState<Sent>()
  const { run, busy, error } = useAction(async (idempotencyKey) => {
    setResult(undefined)
    const sent = await operator.post('/platform/system-mail/test', {
      body: { to },
      idempotencyKey,
    })
    setResult({ ...sent, at: Date.now() })
  })
  if (!server?.host) return null
  return (
    <section class="note stack" aria-label={t.test}>
      <Failed error={error} />
      <div role="status">
        {result ? <Outcome key={result.at} result={result} /> : <p>{t.testHint(to)}</p>}
      </div>
      <p>
        <button type="button" disabled={busy} aria-busy={busy} onClick={() => void run()}>
          {result ? t.sendAgain : t.test}
        </button>
      </p>
    </section>
  )
}

function Outcome({ result }: { result: Sent }) {
  return result.message_id ? (
    <Arrival to={result.to} messageId={result.message_id} since={result.at} />
  ) : (
    <p>
      {t.notSent} <Reason text={result.error} />
    </p>
  )
}

/** Looks into the message trace until the mail servers have logged the delivery. */
function Arrival({ to, messageId, since }: { to: string; messageId: string; since: number }) {
  const [isOver, setOver] = useState(false)
  const { data } = useQuery(
    `arrival ${messageId}`,
    async () => {
      const rows = await operator.get('/message-trace/trace', {
        query: { message_id: messageId, recipient: to },
      })
      const last = rows.find(({ status }) => status === 'delivered') ?? rows[0]
      setOver((last && last.status !== 'deferred') || Date.now() - since > WAIT_MS)
      return { last }
    },
    { everySeconds: isOver ? undefined : LOOK_SECONDS },
  )
  const last = data?.last
  if (last?.status === 'delivered') return <p>{t.arrived(to)}</p>
  if (last) {
    return (
      <p>
        {t.refused(to)} <Reason text={last.bounce_reason ?? last.status} />
      </p>
    )
  }
  return <p>{isOver ? t.notYet : t.onItsWay(to)}</p>
}

const Reason = ({ text }: { text: string | null }) => (
  <span lang="en">
    <Text>{text}</Text>
  </span>
)

import { useState } from 'preact/hooks'
import { ApiError } from '../../api/client.ts'
import { forget } from '../../lib/query.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { CheckBox } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Text } from '../../ui/page.tsx'
import { Secret } from '../../ui/secret.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { areReady, type Line, LinesField } from '../lines.tsx'
import { t } from './add-many.words.ts'
import {
  type MailboxLine,
  makePassword,
  type NewMailbox,
  parseMailboxes,
} from './parse-mailboxes.ts'

const LIMIT = 500
/** Mailboxes of one request. */
const AT_ONCE = 25

interface Outcome {
  added: NewMailbox[]
  failed: { email: string; why: string }[]
}

const columns: Column<Omit<MailboxLine, 'problem'> & Line>[] = [
  { title: t.address, cell: ({ email }) => <Text>{email}</Text> },
  { title: t.name, cell: ({ name }) => <Text>{name}</Text> },
  { title: t.password, cell: ({ hasPassword }) => (hasPassword ? t.own : t.made) },
]

/** Many mailboxes from pasted lines or a file, with progress. */
export function AddManyMailboxes({ open, onClose }: { open: boolean; onClose(): void }) {
  const [text, setText] = useState('')
  const [done, setDone] = useState<number>()
  const [outcome, setOutcome] = useState<Outcome>()
  const { mailboxes, lines } = parseMailboxes(text, makePassword)
  const close = () => {
    setText('')
    setDone(undefined)
    setOutcome(undefined)
    onClose()
  }
  if (outcome) {
    return (
      <Dialog title={t.doneTitle} open={open} onClose={close} size="wide" locked>
        <Result outcome={outcome} onDone={close} />
      </Dialog>
    )
  }
  return (
    <Dialog title={t.title} open={open} onClose={close} size="wide" locked={done !== undefined}>
      <Form
        submit={t.submit}
        disabled={!areReady(lines, LIMIT)}
        onCancel={done === undefined ? close : undefined}
        onSubmit={async (_values, key) => {
          setDone(0)
          setOutcome(await addAll(mailboxes, key, setDone))
          forget('mailboxes')
        }}
      >
        <LinesField
          label={t.lines}
          hint={t.hint}
          text={text}
          onText={setText}
          lines={lines.map((line) => ({
            ...line,
            problem: line.problem && t.problems[line.problem],
          }))}
          columns={columns}
          limit={LIMIT}
        />
        {done !== undefined && (
          <p>
            <progress aria-label={t.progressLabel} max={mailboxes.length} value={done} />{' '}
            {t.progress(done, mailboxes.length)}
          </p>
        )}
      </Form>
    </Dialog>
  )
}

/** Sends parts of the list, so that progress is seen. A part whose answer was lost is sent once more. */
async function addAll(
  mailboxes: readonly NewMailbox[],
  key: string,
  report: (done: number) => void,
): Promise<Outcome> {
  const outcome: Outcome = { added: [], failed: [] }
  for (let start = 0; start < mailboxes.length; start += AT_ONCE) {
    const part = mailboxes.slice(start, start + AT_ONCE)
    const send = () =>
      api.post('/mailboxes/email-accounts/bulk', {
        body: { accounts: part },
        idempotencyKey: `${key}-${start}`,
      })
    try {
      const { results } = await send().catch((error) => {
        if (error instanceof ApiError && error.status > 0 && error.status < 500) throw error
        return send()
      })
      for (const [index, mailbox] of part.entries()) {
        const result = results[index]
        if (result?.status === 'success') outcome.added.push(mailbox)
        else outcome.failed.push({ email: mailbox.email, why: result?.msg ?? '' })
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      for (const { email } of part) outcome.failed.push({ email, why: error.message })
    }
    report(start + part.length)
  }
  return outcome
}

const Result = ({ outcome, onDone }: { outcome: Outcome; onDone(): void }) => (
  <Form submit={common.done} onSubmit={async () => onDone()}>
    <p role="status">{t.added(outcome.added.length)}</p>
    {outcome.added.length > 0 && (
      <>
        <p class="muted">{t.passwordsHint}</p>
        <Secret
          value={outcome.added.map(({ email, password }) => `${email},${password}`).join('\n')}
          label={t.passwords}
          fileName="mailboxes.csv"
        />
        <CheckBox label={common.stored} name="stored" required />
      </>
    )}
    {outcome.failed.length > 0 && (
      <>
        <p>{t.failed(outcome.failed.length)}</p>
        <Table
          caption={t.failed(outcome.failed.length)}
          rows={outcome.failed}
          rowKey={({ email }) => email}
          columns={[
            { title: t.address, cell: ({ email }) => <Text>{email}</Text> },
            { title: t.why, cell: ({ why }) => <span lang="en">{why}</span> },
          ]}
        />
      </>
    )}
  </Form>
)

import { useState } from 'preact/hooks'
import { cells, isAddress, linesOf } from '../../lib/cells.ts'
import { forget } from '../../lib/query.ts'
import { Field } from '../../ui/field.tsx'
import { FormDialog, type Values } from '../../ui/form.tsx'
import { Text } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { api } from '../api.ts'
import { areReady, type Line, LinesField } from '../lines.tsx'
import { t } from './words.ts'

/** Jobs of one request. */
const LIMIT = 1000

export type Direction = 'import' | 'export'

/** A mailbox of this host and its counterpart on another server. */
interface Pair {
  email: string
  password: string
  username: string
  otherPassword: string
}

const importOf = (host: string, pair: Pair) => ({
  source_host: host,
  source_username: pair.username,
  source_password: pair.otherPassword,
  target_email: pair.email,
  target_password: pair.password,
})

const exportOf = (host: string, pair: Pair) => ({
  source_email: pair.email,
  source_password: pair.password,
  target_host: host,
  target_username: pair.username,
  target_password: pair.otherPassword,
})

interface Dialog {
  direction: Direction
  open: boolean
  onClose(): void
}

export function StartOne({ direction, ...dialog }: Dialog) {
  const names =
    direction === 'import'
      ? { here: 'target', there: 'source', email: 'target_email' }
      : { here: 'source', there: 'target', email: 'source_email' }
  const pairOf = (values: Values): Pair => ({
    email: values.text(names.email),
    password: values.secret(`${names.here}_password`),
    username: values.text(`${names.there}_username`),
    otherPassword: values.secret(`${names.there}_password`),
  })
  return (
    <FormDialog
      {...dialog}
      title={t.add[direction]}
      submit={t.add[direction]}
      onSubmit={async (values, idempotencyKey) => {
        const pair = pairOf(values)
        const host = values.text(`${names.there}_host`)
        await (direction === 'import'
          ? api.post('/migration/import', { body: importOf(host, pair), idempotencyKey })
          : api.post('/migration/export', { body: exportOf(host, pair), idempotencyKey }))
        forget('migration')
        toast(t.started[direction](pair.email))
      }}
    >
      <h3>{t.there[direction]}</h3>
      <Host name={`${names.there}_host`} />
      <Field label={t.username} name={`${names.there}_username`} autocomplete="off" required />
      <Password label={t.otherPassword} name={`${names.there}_password`} />
      <h3>{t.here[direction]}</h3>
      <Field label={t.email} name={names.email} type="email" autocomplete="off" required />
      <Password label={t.password} name={`${names.here}_password`} />
    </FormDialog>
  )
}

/** Jobs for many mailboxes from pasted lines or a file: all of them, or none. */
export function StartMany({ direction, open, onClose }: Dialog) {
  const [text, setText] = useState('')
  const lines = pairsOf(text)
  const close = () => {
    setText('')
    onClose()
  }
  return (
    <FormDialog
      title={t.addMany[direction]}
      open={open}
      onClose={close}
      size="wide"
      submit={t.addMany[direction]}
      disabled={!areReady(lines, LIMIT)}
      onSubmit={async (values, idempotencyKey) => {
        const host = values.text('host')
        const { total_jobs } =
          direction === 'import'
            ? await api.post('/migration/import/bulk', {
                body: { accounts: lines.map((pair) => importOf(host, pair)) },
                idempotencyKey,
              })
            : await api.post('/migration/export/bulk', {
                body: { accounts: lines.map((pair) => exportOf(host, pair)) },
                idempotencyKey,
              })
        forget('migration')
        toast(t.startedMany(total_jobs))
      }}
    >
      <Host name="host" />
      <LinesField
        label={t.lines}
        hint={t.linesHint}
        text={text}
        onText={setText}
        lines={lines}
        columns={columns}
        limit={LIMIT}
      />
    </FormDialog>
  )
}

const columns: Column<Pair & Line>[] = [
  { title: t.email, cell: ({ email }) => <Text>{email}</Text> },
  { title: t.username, cell: ({ username }) => <Text>{username}</Text> },
]

const pairsOf = (text: string): (Pair & Line)[] =>
  linesOf(text).map(({ line, text: one }) => {
    const [email = '', password = '', username = '', otherPassword = ''] = cells(one)
    const problem = !isAddress(email)
      ? t.problems.noAddress
      : password && username && otherPassword
        ? undefined
        : t.problems.missing
    return { line, email, password, username, otherPassword, problem }
  })

const Host = ({ name }: { name: string }) => (
  <Field label={t.host} name={name} hint={t.hostHint} autocomplete="off" required />
)

const Password = (field: { label: string; name: string }) => (
  <Field {...field} type="password" autocomplete="off" required />
)

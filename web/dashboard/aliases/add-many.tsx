import { useState } from 'preact/hooks'
import { forget } from '../../lib/query.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Form } from '../../ui/form.tsx'
import { Text } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { api } from '../api.ts'
import { areReady, type Line, LinesField } from '../lines.tsx'
import { type AliasLine, parseAliases } from './parse-aliases.ts'
import { t } from './words.ts'

interface Failure {
  source: string
  msg: string
}

const LIMIT = 1000

const columns: Column<Omit<AliasLine, 'problem'> & Line>[] = [
  { title: t.source, cell: ({ source }) => <Text>{source}</Text> },
  { title: t.destination, cell: ({ destination }) => <Text>{destination}</Text> },
]

/** Many aliases from lines that were pasted; what was not added is listed with the reason. */
export function AddManyAliases({ open, onClose }: { open: boolean; onClose(): void }) {
  const [text, setText] = useState('')
  const [failures, setFailures] = useState<Failure[]>([])
  const { aliases, lines } = parseAliases(text)
  const close = () => {
    setText('')
    setFailures([])
    onClose()
  }
  return (
    <Dialog title={t.addMany} open={open} onClose={close} size="wide">
      <Form
        submit={t.addMany}
        disabled={!areReady(lines, LIMIT)}
        onCancel={close}
        onSubmit={async (_values, idempotencyKey) => {
          const { summary, results } = await api.post('/aliases/add/bulk', {
            body: { aliases },
            idempotencyKey,
          })
          forget('aliases')
          toast(t.bulkDone(summary.success))
          const failed = results.filter(({ status }) => status !== 'success')
          setFailures(failed)
          if (failed.length === 0) close()
        }}
      >
        <LinesField
          label={t.lines}
          hint={t.linesHint}
          text={text}
          onText={setText}
          lines={lines.map((line) => ({
            ...line,
            problem: line.problem && t.problems[line.problem],
          }))}
          columns={columns}
          limit={LIMIT}
        />
        {failures.length > 0 && (
          <Table
            caption={t.failures}
            rows={failures}
            rowKey={({ source }) => source}
            columns={[
              { title: t.failures, cell: ({ source }) => <Text>{source}</Text> },
              { title: t.why, cell: ({ msg }) => <span lang="en">{msg}</span> },
            ]}
          />
        )}
      </Form>
    </Dialog>
  )
}

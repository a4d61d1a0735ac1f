import { useState } from 'preact/hooks'
import { forget } from '../../lib/query.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { TextArea } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Text } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { api } from '../api.ts'
import { parseAliases } from './parse-aliases.ts'
import { t } from './words.ts'

interface Failure {
  source: string
  msg: string
}

/** Many aliases from lines that were pasted; what was not added is listed with the reason. */
export function AddManyAliases({ open, onClose }: { open: boolean; onClose(): void }) {
  const [text, setText] = useState('')
  const [failures, setFailures] = useState<Failure[]>([])
  const { aliases, badLine } = parseAliases(text)
  const problem =
    badLine !== undefined ? t.badLine(badLine) : aliases.length > 1000 ? t.tooMany : undefined
  const close = () => {
    setText('')
    setFailures([])
    onClose()
  }
  return (
    <Dialog title={t.addMany} open={open} onClose={close} size="wide">
      <Form
        submit={t.addMany}
        disabled={problem !== undefined || aliases.length === 0}
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
        <TextArea
          label={t.lines}
          name="lines"
          rows={8}
          required
          hint={t.linesHint}
          onInput={setText}
        />
        <p class={problem ? 'wrong' : 'muted'} role="status">
          {problem ?? t.preview(aliases.length)}
        </p>
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

import { useState } from 'preact/hooks'
import type { TemplateVersion } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { go, useParams } from '../../lib/router.tsx'
import { RowButton } from '../../ui/buttons.tsx'
import { ConfirmByName } from '../../ui/confirm.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Field, TextArea } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { Card, Heading, Text, Time } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t as titles } from '../titles.words.ts'
import { Diff } from './diff.tsx'
import { t } from './words.ts'

const LIST = '/app/templates'

export function TemplatePage() {
  const { template_id = '' } = useParams()
  const params = { template_id }
  const mayWrite = useMay()<'PUT /templates/{template_id}'>('write')
  const [removing, setRemoving] = useState(false)
  const { data, error, again } = useQuery(`templates ${template_id}`, () =>
    api.get('/templates/{template_id}', { params }),
  )
  const name = data?.name ?? titles.template
  return (
    <>
      <Heading title={name} parent={{ title: titles.templates, to: LIST }}>
        {data && mayWrite && (
          <Menu name={common.actionsFor(name)}>
            <MenuItem danger onClick={() => setRemoving(true)}>
              {t.remove}
            </MenuItem>
          </Menu>
        )}
      </Heading>
      <Failed error={error} again={again} />
      {data && (
        <Card key={data.version}>
          <Form
            submit={common.save}
            disabled={!mayWrite}
            onSubmit={async (values, idempotencyKey) => {
              const saved = await api.put('/templates/{template_id}', {
                params,
                body: {
                  subject_template: values.text('subject_template'),
                  html_content: values.text('html_content'),
                },
                idempotencyKey,
              })
              forget('templates')
              toast([t.saved(name), ...saved.warnings].join('. '))
            }}
          >
            <Field
              label={t.subject}
              name="subject_template"
              value={data.subject_template}
              required
            />
            <TextArea label={t.text} name="html_content" value={data.html_content} rows={16} />
          </Form>
        </Card>
      )}
      {data && mayWrite && <Test id={template_id} names={data.variables} />}
      {data && <Versions id={template_id} mayWrite={mayWrite} />}
      <ConfirmByName
        open={removing}
        onClose={() => setRemoving(false)}
        title={t.remove}
        submit={t.remove}
        name={name}
        onConfirm={async (idempotencyKey) => {
          await api.delete('/templates/{template_id}', { params, idempotencyKey })
          forget('templates')
          toast(t.removed(name))
          go(LIST)
        }}
      >
        <p>{t.removeHint}</p>
      </ConfirmByName>
    </>
  )
}

const Test = ({ id, names }: { id: string; names: readonly string[] }) => (
  <Card title={t.test}>
    <Form
      submit={t.send}
      onSubmit={async (values, idempotencyKey) => {
        const to = values.text('to')
        await api.post('/templates/{template_id}/test', {
          params: { template_id: id },
          body: {
            from: values.text('from'),
            to,
            variables: JSON.parse(values.text('variables') || '{}'),
          },
          idempotencyKey,
        })
        toast(t.sent(to))
      }}
    >
      <Field label={t.from} name="from" required />
      <Field label={t.to} name="to" required />
      <TextArea
        label={t.variables}
        name="variables"
        value={JSON.stringify(Object.fromEntries(names.map((name) => [name, ''])), null, 1)}
      />
    </Form>
  </Card>
)

function Versions({ id, mayWrite }: { id: string; mayWrite: boolean }) {
  const params = { template_id: id }
  const [compared, setCompared] = useState<number>()
  const { data, error, again } = useQuery(`templates ${id} versions`, () =>
    api.get('/templates/{template_id}/versions', { params }),
  )
  const columns: Column<TemplateVersion>[] = [
    { title: t.version, cell: ({ version }) => version },
    { title: t.changed, cell: ({ created_at }) => <Time iso={created_at} /> },
    { title: t.from, minor: true, cell: ({ author }) => <Text>{author}</Text> },
    {
      title: common.actions,
      quiet: true,
      cell: ({ version }) => (
        <span class="actions">
          {data?.versions.some((one) => one.version === version - 1) && (
            <RowButton name={String(version)} onClick={() => setCompared(version)}>
              {t.diff}
            </RowButton>
          )}
          {mayWrite && (
            <RowButton
              name={String(version)}
              onClick={async () => {
                await api.post('/templates/{template_id}/versions/{version}/restore', {
                  params: { ...params, version },
                })
                forget('templates')
                toast(t.restored(version))
              }}
            >
              {t.restore}
            </RowButton>
          )}
        </span>
      ),
    },
  ]
  return (
    <>
      <Failed error={error} again={again} />
      {data && (
        <Table
          caption={t.version}
          columns={columns}
          rows={data.versions}
          rowKey={({ version }) => String(version)}
        />
      )}
      {compared !== undefined && (
        <Diff
          id={id}
          version={compared}
          against={compared - 1}
          onClose={() => setCompared(undefined)}
        />
      )}
    </>
  )
}

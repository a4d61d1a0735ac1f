import type { RagConfiguration } from '../../api/schema.ts'
import { forget } from '../../lib/query.ts'
import { CheckBox, Field } from '../../ui/field.tsx'
import { Form, type Values } from '../../ui/form.tsx'
import { Card } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t } from './words.ts'

/** The API replaces all settings at once; these are the stored ones. */
export const bodyOf = (config: RagConfiguration) => ({
  enabled: config.enabled,
  enabled_fields: config.enabled_fields as string[],
  chunk_size: config.chunk_size,
  chunk_overlap: config.chunk_overlap,
  embedding_provider: config.embedding_provider,
  privacy_mode: config.privacy_mode,
  auto_index: config.auto_index,
  index_schedule: config.index_schedule,
  max_documents: config.max_documents,
})

const changed = (config: RagConfiguration, values: Values) => ({
  ...bodyOf(config),
  enabled: values.checked('enabled'),
  enabled_fields: Object.keys(t.fieldNames).filter((one) => values.checked(`index_${one}`)),
  auto_index: values.checked('auto_index'),
  index_schedule: values.text('index_schedule'),
  privacy_mode: values.checked('privacy_mode'),
  max_documents: values.number('max_documents') ?? config.max_documents,
})

export const SearchSettings = ({ config }: { config: RagConfiguration }) => (
  <Card title={t.settings}>
    <div class="narrow">
      <Form
        submit={common.save}
        onSubmit={async (values, idempotencyKey) => {
          await api.put('/rag/organizations/{organization_id}/rag/config', {
            params: { organization_id: config.organization_id },
            body: changed(config, values),
            idempotencyKey,
          })
          forget('rag')
          toast(t.saved)
        }}
      >
        <CheckBox label={t.enabled} name="enabled" checked={config.enabled} />
        <fieldset class="rows">
          <legend>{t.fields}</legend>
          {Object.entries(t.fieldNames).map(([name, title]) => (
            <CheckBox
              key={name}
              label={title}
              name={`index_${name}`}
              checked={config.enabled_fields.some((one) => one === name)}
            />
          ))}
        </fieldset>
        <CheckBox label={t.auto} name="auto_index" checked={config.auto_index} />
        <Field
          label={t.schedule}
          name="index_schedule"
          value={config.index_schedule}
          hint={t.scheduleHint}
          maxLength={100}
          autocomplete="off"
          required
        />
        <CheckBox label={t.privacy} name="privacy_mode" checked={config.privacy_mode} />
        <Field
          label={t.most}
          name="max_documents"
          value={config.max_documents}
          type="number"
          min={0}
          step={1}
          required
        />
      </Form>
    </div>
  </Card>
)

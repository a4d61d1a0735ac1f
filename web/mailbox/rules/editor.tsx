import { useState } from 'preact/hooks'
import type { MailboxRule } from '../../api/schema.ts'
import { Field } from '../../ui/field.tsx'
import { FormDialog, type Values } from '../../ui/form.tsx'
import { optionsOf, RemoveRow, useRows } from '../../ui/rows.tsx'
import { t as common } from '../../ui/words.ts'
import { t } from './words.ts'

export type Draft = Omit<MailboxRule, 'id'> & { id?: string }

export const NEW_RULE: Draft = {
  name: '',
  match: 'all',
  conditions: [{ field: 'from', operator: 'contains', value: '' }],
  actions: [{ type: 'move', value: '' }],
  enabled: true,
}

interface Props {
  /** undefined: closed. */
  draft: Draft | undefined
  onClose(): void
  save(rule: Draft, idempotencyKey: string): Promise<unknown>
}

export const RuleEditor = ({ draft, onClose, save }: Props) => (
  <FormDialog
    title={draft?.id ? t.editTitle(draft.name || t.unnamed) : t.add}
    open={draft !== undefined}
    onClose={onClose}
    submit={common.save}
    onSubmit={(values, key) => save({ ...NEW_RULE, ...draft, ...ruleOf(values) }, key)}
  >
    <RuleFields draft={draft ?? NEW_RULE} />
  </FormDialog>
)

/** The rows have the same names, so that the n-th value of each name belongs to the n-th row. */
function ruleOf(values: Values): Omit<Draft, 'id' | 'enabled'> {
  const operators = values.all('operator')
  const texts = values.all('value')
  const targets = values.all('target')
  return {
    name: values.text('name'),
    match: values.text('match'),
    conditions: values.all('field').map((field, row) => ({
      field,
      operator: operators[row] ?? 'contains',
      value: texts[row] ?? '',
    })),
    actions: values.all('type').map((type, row) => ({ type, value: targets[row]?.trim() || null })),
  }
}

function RuleFields({ draft }: { draft: Draft }) {
  const conditions = useRows(draft.conditions)
  const actions = useRows(draft.actions)
  return (
    <>
      <Field label={t.name} name="name" hint={t.nameHint} value={draft.name} autocomplete="off" />
      <fieldset class="rows">
        <legend>{t.when}</legend>
        <select name="match" aria-label={t.match}>
          <option value="all" selected={draft.match !== 'any'}>
            {t.all}
          </option>
          <option value="any" selected={draft.match === 'any'}>
            {t.any}
          </option>
        </select>
        {conditions.rows.map(({ id, row }, index) => (
          <div key={id} class="row">
            <select name="field" aria-label={t.field}>
              {optionsOf(t.fields, row.field)}
            </select>
            <select name="operator" aria-label={t.operator}>
              {optionsOf(t.operators, row.operator)}
            </select>
            <input
              name="value"
              aria-label={t.value}
              placeholder={t.value}
              defaultValue={row.value ?? ''}
              maxLength={2000}
              required
            />
            <RemoveRow
              name={t.removeCondition(index + 1)}
              hidden={conditions.rows.length === 1}
              remove={() => conditions.remove(id)}
            />
          </div>
        ))}
        <button
          type="button"
          class="small"
          onClick={() => conditions.add({ field: 'subject', operator: 'contains', value: '' })}
        >
          {t.addCondition}
        </button>
      </fieldset>
      <fieldset class="rows">
        <legend>{t.thenDo}</legend>
        {actions.rows.map(({ id, row }, index) => (
          <div key={id} class="row">
            <ActionFields type={row.type ?? 'move'} target={row.value ?? ''} />
            <RemoveRow
              name={t.removeAction(index + 1)}
              hidden={actions.rows.length === 1}
              remove={() => actions.remove(id)}
            />
          </div>
        ))}
        <button type="button" class="small" onClick={() => actions.add({ type: 'mark_read' })}>
          {t.addAction}
        </button>
      </fieldset>
    </>
  )
}

function ActionFields({ type, target }: { type: string; target: string }) {
  const [chosen, setChosen] = useState(type)
  const label = chosen === 'move' ? t.folder : chosen === 'forward' ? t.address : undefined
  return (
    <>
      <select
        name="type"
        aria-label={t.action}
        onChange={(event) => setChosen(event.currentTarget.value)}
      >
        {optionsOf(t.actions, type)}
      </select>
      {label ? (
        <input
          name="target"
          aria-label={label}
          placeholder={label}
          defaultValue={target}
          maxLength={1000}
          required
        />
      ) : (
        <input type="hidden" name="target" value="" />
      )}
    </>
  )
}

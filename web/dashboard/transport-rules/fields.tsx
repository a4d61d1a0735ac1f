import { useState } from 'preact/hooks'
import type { TransportRule } from '../../api/schema.ts'
import { CheckBox, Field, Select, TextArea } from '../../ui/field.tsx'
import { Form, useFieldError, type Values } from '../../ui/form.tsx'
import { optionsOf, RemoveRow, useRows } from '../../ui/rows.tsx'
import { Sentence } from './sentence.tsx'
import {
  type Action,
  type Condition,
  headerOf,
  NEW_ACTION,
  NEW_CONDITION,
  type NewRule,
  OPERATORS_OF,
  OPTIONAL,
  PARAMS_OF,
  type Param,
  sentAction,
  withField,
} from './vocabulary.ts'
import { t } from './words.ts'

const MIB = 1024 ** 2

/** The builder of a rule. Errors of the API about a row are shown at the row. */
export function RuleForm({
  rule,
  submit,
  save,
}: {
  /** undefined for a new one. */
  rule?: TransportRule
  submit: string
  save(rule: NewRule, idempotencyKey: string): Promise<unknown>
}) {
  const conditions = useRows<Condition>(rule?.conditions ?? [NEW_CONDITION])
  const actions = useRows<Action>(rule?.actions ?? [NEW_ACTION])
  const [direction, setDirection] = useState<TransportRule['direction']>(rule?.direction ?? 'both')
  const [logic, setLogic] = useState<TransportRule['condition_logic']>(
    rule?.condition_logic ?? 'all',
  )
  const parts = {
    direction,
    condition_logic: logic,
    conditions: conditions.rows.map(({ row }) => row),
    actions: actions.rows.map(({ row }) => sentAction(row)),
  }
  const ruleOf = (values: Values): NewRule => ({
    name: values.text('name'),
    description: values.optional('description'),
    enabled: values.checked('enabled'),
    ...parts,
  })
  return (
    <Form submit={submit} onSubmit={(values, key) => save(ruleOf(values), key)}>
      <p class="note" role="status">
        <Sentence rule={parts} />
      </p>
      <div class="pair">
        <Field
          label={t.name}
          name="name"
          value={rule?.name}
          maxLength={255}
          autocomplete="off"
          required
        />
        <Select
          label={t.direction}
          name="direction"
          value={direction}
          options={Object.entries(t.directions)}
          onChange={(value) => setDirection(value as typeof direction)}
        />
      </div>
      <fieldset class="rows">
        <legend>{t.when}</legend>
        <select
          aria-label={t.match}
          value={logic}
          onChange={(event) => setLogic(event.currentTarget.value as typeof logic)}
        >
          {optionsOf({ all: t.all, any: t.any }, logic)}
        </select>
        {conditions.rows.map(({ id, row }, index) => (
          <ConditionRow
            key={id}
            {...{ row, index }}
            change={(changed) => conditions.change(id, changed)}
            remove={() => conditions.remove(id)}
            isOnly={conditions.rows.length === 1}
          />
        ))}
        <button type="button" class="small" onClick={() => conditions.add(NEW_CONDITION)}>
          {t.addCondition}
        </button>
      </fieldset>
      <fieldset class="rows">
        <legend>{t.thenDo}</legend>
        {actions.rows.map(({ id, row }, index) => (
          <ActionRow
            key={id}
            {...{ row, index }}
            change={(changed) => actions.change(id, changed)}
            remove={() => actions.remove(id)}
            isOnly={actions.rows.length === 1}
          />
        ))}
        <button type="button" class="small" onClick={() => actions.add(NEW_ACTION)}>
          {t.addAction}
        </button>
      </fieldset>
      <Field
        label={t.description}
        name="description"
        value={rule?.description ?? ''}
        maxLength={2000}
        autocomplete="off"
      />
      <CheckBox label={t.enabled} name="enabled" checked={rule?.enabled ?? true} />
    </Form>
  )
}

interface RowProps<Row> {
  row: Row
  index: number
  change(row: Row): void
  remove(): void
  isOnly: boolean
}

function ConditionRow({ row, index, change, remove, isOnly }: RowProps<Condition>) {
  const name = `conditions.${index}`
  const errors = [useFieldError(`${name}.operator`), useFieldError(`${name}.value`)]
  const wrong = errors.find(Boolean)
  const operators = Object.fromEntries(
    OPERATORS_OF[row.field].map((operator) => [operator, t.operators[operator]]),
  )
  return (
    <div class="row">
      <select
        aria-label={t.field}
        value={row.field}
        onChange={(event) =>
          change(withField(row, event.currentTarget.value as Condition['field']))
        }
      >
        {optionsOf(t.fields, row.field)}
      </select>
      {row.field !== 'has_attachment' && (
        <select
          aria-label={t.operator}
          value={row.operator}
          onChange={(event) =>
            change({ ...row, operator: event.currentTarget.value as Condition['operator'] })
          }
        >
          {optionsOf(operators, row.operator)}
        </select>
      )}
      <ConditionValue
        key={row.field}
        row={row}
        wrong={wrong !== undefined}
        change={(value) => change({ ...row, value })}
      />
      <RemoveRow name={t.removeCondition(index + 1)} hidden={isOnly} remove={remove} />
      {wrong && (
        <p class="wrong" lang="en">
          {wrong}
        </p>
      )}
    </div>
  )
}

/** The input for what a field is compared with. */
function ConditionValue({
  row: { field, value },
  wrong,
  change,
}: {
  row: Condition
  wrong: boolean
  change(value: string): void
}) {
  if (field === 'has_attachment') {
    return (
      <select
        aria-label={t.value}
        value={value}
        onChange={(event) => change(event.currentTarget.value)}
      >
        {optionsOf(t.attachment, value)}
      </select>
    )
  }
  const input = (label: string, first: string, typed: (text: string) => void, more = {}) => (
    <input
      aria-label={label}
      placeholder={label}
      defaultValue={first}
      aria-invalid={wrong ? 'true' : undefined}
      maxLength={1000}
      onInput={(event) => typed(event.currentTarget.value)}
      {...more}
    />
  )
  if (field === 'size') {
    return (
      <>
        {input(
          t.size,
          value === '' ? '' : String(Number(value) / MIB),
          (text) => change(text === '' ? '' : String(Math.round(Number(text) * MIB))),
          { type: 'number', min: 0, step: 'any', required: true },
        )}
        <span class="muted">{t.mib}</span>
      </>
    )
  }
  if (field !== 'header') return input(t.value, value, change, { required: true })
  const { name, text } = headerOf(value)
  return (
    <>
      {input(t.headerName, name, (typed) => change(`${typed.trim()}: ${text}`), {
        maxLength: 76,
        required: true,
      })}
      {input(t.headerText, text, (typed) => change(`${name}: ${typed}`))}
    </>
  )
}

function ActionRow({ row, index, change, remove, isOnly }: RowProps<Action>) {
  const set = (name: Param) => (value: string) =>
    change({ ...row, params: { ...row.params, [name]: value } })
  return (
    <div class="action-row">
      <div class="row">
        <select
          aria-label={t.action}
          value={row.type}
          onChange={(event) =>
            change({ ...row, type: event.currentTarget.value as Action['type'] })
          }
        >
          {optionsOf(t.actions, row.type)}
        </select>
        <RemoveRow name={t.removeAction(index + 1)} hidden={isOnly} remove={remove} />
      </div>
      <div class="pair">
        {PARAMS_OF[row.type].map((name) => (
          <ParamField
            key={name}
            {...{ name, index }}
            value={row.params[name] ?? ''}
            set={set(name)}
          />
        ))}
      </div>
    </div>
  )
}

function ParamField({
  name,
  index,
  value,
  set,
}: {
  name: Param
  index: number
  value: string
  set(value: string): void
}) {
  const common = {
    label: t.params[name],
    name: `actions.${index}.params.${name}`,
    value,
    hint: t.hints[name],
    required: !OPTIONAL.includes(name),
  }
  if (name === 'position') {
    return <Select {...common} options={Object.entries(t.positions)} onChange={set} />
  }
  const typed = { ...common, onInput: set }
  if (name === 'text' || name === 'html') return <TextArea {...typed} rows={4} />
  return <Field {...typed} type={name === 'address' ? 'email' : 'text'} autocomplete="off" />
}

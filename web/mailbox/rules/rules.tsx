import { useState } from 'preact/hooks'
import type { MailboxRule, MailboxRules } from '../../api/schema.ts'
import { forget, setOptimistic, useAction, useQuery } from '../../lib/query.ts'
import { Failed } from '../../ui/failed.tsx'
import { Icon } from '../../ui/icon.tsx'
import { plus } from '../../ui/icons.ts'
import { MoveButtons } from '../../ui/order.tsx'
import { Badge, Card, Empty, Heading, Text } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { api } from '../api.ts'
import { t as shared } from '../words.ts'
import { type Draft, NEW_RULE, RuleEditor } from './editor.tsx'
import { Sentence } from './sentence.tsx'
import { TryRules } from './try-rules.tsx'
import { t } from './words.ts'

const MAX_RULES = 50

/** The API stores all rules at once. The list shows the new order before the answer is there. */
async function save(rules: Draft[], idempotencyKey?: string): Promise<void> {
  setOptimistic<MailboxRules>('rules', (shown) => ({
    ...shown,
    rules: rules.map((rule, index) => ({ ...rule, id: rule.id ?? `new-${index}` })),
  }))
  try {
    await api.put('/mailbox/rules', { body: { rules }, ...(idempotencyKey && { idempotencyKey }) })
  } finally {
    forget('rules')
  }
}

export function Rules() {
  const { data, error, again } = useQuery('rules', () => api.get('/mailbox/rules'))
  const [draft, setDraft] = useState<Draft>()
  const change = useAction((key, rules: Draft[]) => save(rules, key))
  const rules = data?.rules ?? []
  const isFull = rules.length >= MAX_RULES
  const add = (words: string) => (
    <button
      type="button"
      class="primary"
      disabled={isFull || !data}
      onClick={() => setDraft(NEW_RULE)}
    >
      <Icon path={plus} size={16} />
      {words}
    </button>
  )
  return (
    <>
      <Heading title={t.title}>{add(t.add)}</Heading>
      <Failed error={error ?? change.error} again={again} />
      {data && !data.managed && <p class="note warn">{shared.foreign}</p>}
      {isFull && <p class="note">{t.full}</p>}
      {data && (
        <Card flush>
          {rules.length === 0 ? (
            <Empty title={t.none} action={add(t.addFirst)}>
              {t.noneHint}
            </Empty>
          ) : (
            <>
              <p class="pad muted">{t.hint}</p>
              <ol class="rules">
                {rules.map((rule, index) => (
                  <RuleRow
                    key={rule.id}
                    {...{ rule, index, rules }}
                    change={change.run}
                    edit={() => setDraft(rule)}
                  />
                ))}
              </ol>
            </>
          )}
        </Card>
      )}
      {rules.length > 0 && <TryRules />}
      <RuleEditor
        draft={draft}
        onClose={() => setDraft(undefined)}
        save={async (rule, key) => {
          const others = rule.id
            ? rules.map((one) => (one.id === rule.id ? rule : one))
            : [...rules, rule]
          await save(others, key)
          toast(t.saved(rule.name || t.unnamed))
        }}
      />
    </>
  )
}

interface RowProps {
  rule: MailboxRule
  rules: readonly MailboxRule[]
  index: number
  change(rules: Draft[]): Promise<boolean>
  edit(): void
}

function RuleRow({ rule, rules, index, change, edit }: RowProps) {
  const name = rule.name || t.unnamed
  const without = rules.filter((one) => one !== rule)
  const moveTo = async (place: number) => {
    if (await change(without.toSpliced(place, 0, rule))) toast(t.moved(name, place + 1))
  }
  const remove = async () => {
    if (await change(without)) toast(t.removed(name), () => save([...rules]))
  }
  const toggle = () =>
    void change(rules.map((one) => (one === rule ? { ...one, enabled: !one.enabled } : one)))
  const ofRule = (
    <span class="hidden">
      {' '}
      <Text>{name}</Text>
    </span>
  )
  return (
    <li>
      <div class="prose">
        <h2>
          <Text>{name}</Text> {!rule.enabled && <Badge>{t.off}</Badge>}
        </h2>
        <p class={rule.enabled ? '' : 'muted'}>
          <Sentence rule={rule} />
        </p>
      </div>
      <p class="actions">
        <MoveButtons {...{ index, moveTo }} count={rules.length}>
          {ofRule}
        </MoveButtons>
        <button type="button" class="small" onClick={edit}>
          {t.edit}
          {ofRule}
        </button>
        <button type="button" class="small" onClick={toggle}>
          {rule.enabled ? t.turnOff : t.turnOn}
          {ofRule}
        </button>
        <button type="button" class="small" onClick={() => void remove()}>
          {t.remove}
          {ofRule}
        </button>
      </p>
    </li>
  )
}

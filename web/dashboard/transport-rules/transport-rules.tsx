import type { TransportRule } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { forget, setOptimistic, useAction, useQuery } from '../../lib/query.ts'
import { Failed } from '../../ui/failed.tsx'
import { Icon } from '../../ui/icon.tsx'
import { plus } from '../../ui/icons.ts'
import { MoveButtons } from '../../ui/order.tsx'
import { Badge, Card, Empty, Heading, Text } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { api } from '../api.ts'
import { t as titles } from '../titles.words.ts'
import { RuleActions } from './rule-actions.tsx'
import { Sentence } from './sentence.tsx'
import { TryRules } from './try-rules.tsx'
import { t } from './words.ts'

/** An organization has at most as many rules as a page of the API. */
const MAX_RULES = 200

const readRules = () => api.get('/transport-rules/', { query: { per_page: MAX_RULES } })
export const useRules = () => useQuery('transport-rules', readRules)

export function TransportRules() {
  const { data, error, again } = useRules()
  const may = useMay()
  const reorder = useAction(async (idempotencyKey, rules: readonly TransportRule[]) => {
    setOptimistic<Awaited<ReturnType<typeof readRules>>>('transport-rules', (shown) => ({
      ...shown,
      items: [...rules],
    }))
    try {
      await api.put('/transport-rules/reorder', {
        body: { rule_ids: rules.map(({ id }) => id) },
        idempotencyKey,
      })
    } finally {
      forget('transport-rules')
    }
  })
  const add = (words: string) =>
    may<'POST /transport-rules/'>('write') && (
      <a class="button primary" href="/app/transport-rules/new">
        <Icon path={plus} size={16} />
        {words}
      </a>
    )
  const rules = data?.items
  return (
    <>
      <Heading title={titles.transportRules}>{add(t.add)}</Heading>
      <Failed error={error ?? reorder.error} again={again} />
      {rules && (
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
                  <RuleRow key={rule.id} {...{ rule, index, rules }} reorder={reorder.run} />
                ))}
              </ol>
            </>
          )}
        </Card>
      )}
      {rules && rules.length > 0 && <TryRules />}
    </>
  )
}

interface RowProps {
  rule: TransportRule
  rules: readonly TransportRule[]
  index: number
  reorder(rules: readonly TransportRule[]): Promise<boolean>
}

function RuleRow({ rule, rules, index, reorder }: RowProps) {
  const may = useMay()
  const moveTo = async (place: number) => {
    const moved = rules.filter((one) => one !== rule).toSpliced(place, 0, rule)
    if (await reorder(moved)) toast(t.moved(rule.name, place + 1))
  }
  return (
    <li>
      <div class="prose">
        <h2>
          <a href={`/app/transport-rules/${rule.id}`}>
            <Text>{rule.name}</Text>
          </a>{' '}
          {!rule.enabled && <Badge>{t.off}</Badge>}
        </h2>
        <p class={rule.enabled ? '' : 'muted'}>
          <Sentence rule={rule} />
        </p>
        <p class="muted figure">{t.hitsOf(number(rule.hit_count))}</p>
      </div>
      {may<'PUT /transport-rules/reorder'>('write') && (
        <p class="actions">
          <MoveButtons {...{ index, moveTo }} count={rules.length}>
            <span class="hidden">
              {' '}
              <Text>{rule.name}</Text>
            </span>
          </MoveButtons>
          <RuleActions rule={rule} />
        </p>
      )}
    </li>
  )
}

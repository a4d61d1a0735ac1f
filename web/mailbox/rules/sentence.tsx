import type { MailboxRule, MailboxRuleAction, MailboxRuleCondition } from '../../api/schema.ts'
import { Text } from '../../ui/page.tsx'
import { joined } from '../../ui/sentence.tsx'
import { t } from './words.ts'

const named = (names: Record<string, string>, name = '') => names[name] ?? name

/** A rule in words: "When sender contains shop, then move to folder Shops." */
export function Sentence({ rule }: { rule: MailboxRule }) {
  const { conditions, actions, match } = rule
  return (
    <span>
      {conditions.length === 0
        ? t.sentenceAlways
        : joined(conditions.map(condition), match === 'any' ? t.or : t.and, t.when)}
      {', '}
      {actions.length === 0
        ? `${t.thenDo.toLowerCase()} ${t.nothing}.`
        : joined(actions.map(action), t.and, t.thenDo.toLowerCase(), '.')}
    </span>
  )
}

const condition = ({ field, operator = 'contains', value }: MailboxRuleCondition) => (
  <>
    {named(t.fields, field)} {named(t.operators, operator)}{' '}
    <strong>
      <Text>{value}</Text>
    </strong>
  </>
)

const action = ({ type, value }: MailboxRuleAction) => (
  <>
    {named(t.actions, type)}
    {(type === 'move' || type === 'forward') && (
      <>
        {' '}
        <strong>
          <Text>{value}</Text>
        </strong>
      </>
    )}
  </>
)

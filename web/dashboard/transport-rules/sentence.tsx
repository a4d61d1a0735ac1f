import type { TransportRule } from '../../api/schema.ts'
import { bytes } from '../../lib/format.ts'
import { Text } from '../../ui/page.tsx'
import { joined } from '../../ui/sentence.tsx'
import { type Action, type Condition, headerOf } from './vocabulary.ts'
import { t } from './words.ts'

type Parts = Pick<TransportRule, 'direction' | 'conditions' | 'condition_logic' | 'actions'>

/** A rule in words: "Outgoing mail: when sender ends with @a.test, then send a copy to b@a.test." */
export const Sentence = ({ rule }: { rule: Parts }) => (
  <span>
    {t.sentenceFor[rule.direction]}{' '}
    {joined(
      rule.conditions.map(condition),
      rule.condition_logic === 'any' ? t.or : t.and,
      t.when.toLowerCase(),
    )}
    {', '}
    {joined(rule.actions.flatMap(actions), t.and, t.thenDo.toLowerCase(), '.')}
  </span>
)

const Typed = ({ children }: { children: string | undefined }) => (
  <strong>
    <Text>{children}</Text>
  </strong>
)

function condition({ field, operator, value }: Condition) {
  if (field === 'has_attachment') return <>{t.attachment[value] ?? value}</>
  if (field === 'size') {
    return (
      <>
        {t.fields.size} {t.operators[operator]} <strong>{bytes(Number(value))}</strong>
      </>
    )
  }
  if (field !== 'header') {
    return (
      <>
        {t.fields[field]} {t.operators[operator]} <Typed>{value}</Typed>
      </>
    )
  }
  const { name, text } = headerOf(value)
  return (
    <>
      {t.fields.header} <Typed>{name}</Typed> {text === '' ? t.exists : t.operators[operator]}{' '}
      {text !== '' && <Typed>{text}</Typed>}
    </>
  )
}

/** The parts of the sentence for an action; a change of the subject can have several. */
function actions({ type, params }: Action) {
  const said = (words: string, text: string | undefined) => (
    <>
      {words} <Typed>{text}</Typed>
    </>
  )
  switch (type) {
    case 'quarantine':
      return [
        params.reason
          ? said(`${t.actions.quarantine} ${t.said.because}`, params.reason)
          : t.actions[type],
      ]
    case 'add_header':
      return [said(t.said.addHeader, `${params.name ?? ''}: ${params.value ?? ''}`)]
    case 'modify_subject':
      return (['prefix', 'suffix', 'replace'] as const)
        .filter((name) => params[name])
        .map((name) => said(t.said[name], params[name]))
    case 'redirect':
    case 'bcc':
      return [said(t.said[type], params.address)]
    case 'reject':
      return [said(t.said.reject, params.message)]
    case 'add_disclaimer':
      return [`${t.actions.add_disclaimer} ${t.positions[params.position ?? 'end'] ?? ''}`]
  }
}

import type { Message } from '../../content/message.ts'
import { compilePattern } from '../../lib/patterns.ts'
import { HEADER_VALUE } from './transport-rules.rules.ts'
import type { Condition, Rule } from './vocabulary.ts'

const MAX_TESTED = 8192

type TextTest = (text: string) => boolean

/** A rule whose expressions are compiled. */
export interface CompiledRule extends Rule {
  /** For which of the recipients it matches, in their order. */
  matched(message: Message, sender: string, recipients: readonly string[]): string[]
}

export function compileRule(rule: Rule): CompiledRule {
  const forRecipient = rule.conditions
    .filter(({ field }) => field === 'recipient')
    .map(({ operator, value }) => textTest(operator, value))
  const forMessage = rule.conditions.filter(({ field }) => field !== 'recipient').map(messageTest)
  return {
    ...rule,
    matched(message, sender, recipients) {
      const holds = (test: MessageTest) => test(message, sender)
      if (rule.condition_logic === 'all') {
        if (!forMessage.every(holds)) return []
        return recipients.filter((one) => forRecipient.every((test) => test(one)))
      }
      if (forMessage.some(holds)) return [...recipients]
      return recipients.filter((one) => forRecipient.some((test) => test(one)))
    },
  }
}

type MessageTest = (message: Message, sender: string) => boolean

function messageTest({ field, operator, value }: Condition): MessageTest {
  switch (field) {
    case 'size':
      return ({ size }) => sizeTest(operator, size, Number(value))
    case 'has_attachment':
      return ({ hasAttachment }) => hasAttachment === (value === 'true')
    case 'header': {
      const [, name = '', text = ''] = HEADER_VALUE.exec(value) ?? []
      const test = text === '' && operator !== 'equals' ? () => true : textTest(operator, text)
      return ({ header }) => header(name).some(test)
    }
    case 'subject': {
      const test = textTest(operator, value)
      return ({ subject }) => test(subject)
    }
    default: {
      // Of the envelope, or as the reader sees it: either may be the one that is meant.
      const test = textTest(operator, value)
      return ({ from }, sender) => test(sender) || from.some(test)
    }
  }
}

function sizeTest(operator: Condition['operator'], size: number, bound: number): boolean {
  if (operator === 'greater_than') return size > bound
  return operator === 'less_than' ? size < bound : size === bound
}

function textTest(operator: Condition['operator'], value: string): TextTest {
  if (operator === 'regex') {
    const pattern = compilePattern(value)
    return (text) => pattern.test(text.slice(0, MAX_TESTED))
  }
  const wanted = value.trim().toLowerCase()
  const tests: Partial<Record<Condition['operator'], TextTest>> = {
    contains: (text) => text.includes(wanted),
    starts_with: (text) => text.startsWith(wanted),
    ends_with: (text) => text.endsWith(wanted),
  }
  const test = tests[operator] ?? ((text: string) => text === wanted)
  return (text) => test(text.slice(0, MAX_TESTED).toLowerCase())
}

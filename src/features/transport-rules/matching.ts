import type { Mail } from '../../content/stage.ts'
import { compilePattern } from '../../lib/patterns.ts'
import { HEADER_VALUE } from './transport-rules.rules.ts'
import type { Condition, Rule } from './vocabulary.ts'

const MAX_TESTED_CHARACTERS = 8192

/** The parts of mail that conditions look at. */
type Tested = Pick<Mail, 'message' | 'recipients' | 'sender'>

type TextTest = (text: string) => boolean

/** A rule whose expressions are compiled. */
export interface CompiledRule extends Rule {
  /** The recipients for which it matches, in their order. */
  matched(mail: Tested): string[]
}

export function compileRule(rule: Rule): CompiledRule {
  const forRecipient = rule.conditions
    .filter(({ field }) => field === 'recipient')
    .map(({ operator, value }) => textTest(operator, value))
  const forMessage = rule.conditions.filter(({ field }) => field !== 'recipient').map(mailTest)
  return {
    ...rule,
    matched(mail) {
      const { recipients } = mail
      const holds = (test: MailTest) => test(mail)
      if (rule.condition_logic === 'all') {
        if (!forMessage.every(holds)) return []
        return recipients.filter((recipient) => forRecipient.every((test) => test(recipient)))
      }
      if (forMessage.some(holds)) return [...recipients]
      return recipients.filter((recipient) => forRecipient.some((test) => test(recipient)))
    },
  }
}

type MailTest = (mail: Tested) => boolean

function mailTest({ field, operator, value }: Condition): MailTest {
  switch (field) {
    case 'size':
      return ({ message }) => sizeTest(operator, message.raw.length, Number(value))
    case 'has_attachment':
      return ({ message }) => message.summary.attachments.length > 0 === (value === 'true')
    case 'header': {
      const [, name = '', text = ''] = HEADER_VALUE.exec(value) ?? []
      const test = text === '' && operator !== 'equals' ? () => true : textTest(operator, text)
      return ({ message }) => message.fields(name).some(test)
    }
    case 'subject': {
      const test = textTest(operator, value)
      return ({ message }) => test(message.summary.subject)
    }
    default: {
      // The sender of the envelope or an address of the From field.
      const test = textTest(operator, value)
      return ({ message, sender }) => test(sender) || message.summary.from.some(test)
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
    return (text) => pattern.test(text.slice(0, MAX_TESTED_CHARACTERS))
  }
  const operand = value.trim().toLowerCase()
  const tests: Partial<Record<Condition['operator'], TextTest>> = {
    contains: (text) => text.includes(operand),
    starts_with: (text) => text.startsWith(operand),
    ends_with: (text) => text.endsWith(operand),
  }
  const test = tests[operator] ?? ((text: string) => text === operand)
  return (text) => test(text.slice(0, MAX_TESTED_CHARACTERS).toLowerCase())
}

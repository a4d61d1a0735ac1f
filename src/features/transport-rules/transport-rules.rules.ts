import type { Problem } from '../../errors.ts'
import type { CheckedPattern } from '../../lib/check-patterns.task.ts'
import { isAddress } from '../../sieve/address.ts'
import type { Action, Condition } from './vocabulary.ts'

export interface SentAction {
  type: Action['type']
  params?: Partial<Record<string, string>>
}

const COMPARISONS = ['greater_than', 'less_than']
export const HEADER_VALUE = /^([!-9;-~]{1,76}):[ \t]*(.*)$/s

type Checked = ReadonlyMap<string, CheckedPattern>

/** The regular expressions of conditions. */
export const expressionsOf = (conditions: readonly Condition[]): string[] =>
  conditions
    .filter(({ operator }) => operator === 'regex')
    .map((condition) => textOf(condition) ?? '')
    .filter((source) => source !== '')

/** The text that a condition looks for; undefined if it names no header field. */
const textOf = ({ field, value }: Condition): string | undefined =>
  field === 'header' ? HEADER_VALUE.exec(value)?.[2] : value

/** Checks that the schema cannot express: the operators and values that a field allows. */
export function conditionProblems(conditions: readonly Condition[], checked: Checked): Problem[] {
  return conditions.flatMap((condition, index) => {
    const at = (name: string, msg: string | undefined): Problem[] =>
      msg === undefined
        ? []
        : [{ loc: ['body', 'conditions', index, name], msg, type: 'value_error' }]
    const operator = operatorProblem(condition)
    return operator === undefined
      ? at('value', valueProblem(condition, checked))
      : at('operator', operator)
  })
}

function operatorProblem({ field, operator }: Condition): string | undefined {
  const isComparison = COMPARISONS.includes(operator)
  if (field === 'size') {
    return isComparison || operator === 'equals'
      ? undefined
      : 'Of size must be equals, greater_than or less_than'
  }
  if (field === 'has_attachment') {
    return operator === 'equals' ? undefined : 'Of has_attachment must be equals'
  }
  return isComparison ? `Of ${field} cannot be ${operator}: it is text` : undefined
}

function valueProblem(condition: Condition, checked: Checked): string | undefined {
  const { field, operator, value } = condition
  if (field === 'size') {
    return /^\d{1,15}$/.test(value) ? undefined : 'Must be a number of bytes, in digits'
  }
  if (field === 'has_attachment') {
    return value === 'true' || value === 'false' ? undefined : "Must be 'true' or 'false'"
  }
  const text = textOf(condition)
  if (text === undefined) return 'Must be the name of a header field, a colon, and text'
  if (operator === 'regex') {
    return text === '' ? 'Must not be empty' : checked.get(text)?.problem
  }
  // `X-Name:` without text tests whether the field exists.
  return text === '' && field !== 'header' ? 'Must not be empty' : undefined
}

/** Returns the actions in stored form, and the problems of the sent ones. */
export function readActions(sent: readonly SentAction[]): {
  actions: Action[]
  problems: Problem[]
} {
  const problems: Problem[] = []
  const actions = sent.flatMap(({ type, params = {} }, index) => {
    const read = reader(params, (name, msg) =>
      problems.push({ loc: ['body', 'actions', index, 'params', name], msg, type: 'value_error' }),
    )
    return actionOf(type, read)
  })
  return { actions, problems }
}

type Reader = ReturnType<typeof reader>

function reader(params: Partial<Record<string, string>>, refuse: (n: string, m: string) => void) {
  return {
    refuse,
    text(name: string, maximum: number, lines: 'one' | 'many' = 'one'): string | undefined {
      const value = params[name]
      if (value === undefined) return undefined
      const forbidden = lines === 'one' ? /[\x00-\x1f\x7f]/ : /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/
      if (value === '') refuse(name, 'Must not be empty')
      else if (value.length > maximum) refuse(name, `Must have at most ${maximum} characters`)
      else if (forbidden.test(value))
        refuse(name, 'Must not hold line breaks or control characters')
      return value
    },
    required(name: string, maximum: number, lines: 'one' | 'many' = 'one'): string {
      const value = this.text(name, maximum, lines)
      if (value === undefined) refuse(name, 'Is required')
      return value ?? ''
    },
  }
}

function actionOf(type: Action['type'], read: Reader): Action {
  switch (type) {
    case 'add_header':
      return { type, params: headerOf(read) }
    case 'modify_subject':
      return { type, params: subjectOf(read) }
    case 'redirect':
    case 'bcc':
      return { type, params: { address: addressOf(read) } }
    case 'reject':
      return { type, params: { message: replyOf(read) } }
    case 'add_disclaimer':
      return { type, params: disclaimerOf(read) }
    case 'quarantine': {
      const reason = read.text('reason', 255)
      return { type, params: reason === undefined ? {} : { reason } }
    }
  }
}

// Fields that mail servers and clients rely on, and trace fields.
const PROTECTED_FIELDS =
  /^(from|to|cc|bcc|sender|reply-to|date|subject|message-id|in-reply-to|references|return-path|received|delivered-to|mime-version|content-.*|dkim-signature|arc-.*|authentication-results|x-svc-.*)$/i

function headerOf(read: Reader) {
  const name = read.required('name', 76)
  if (name !== '' && !/^[!-9;-~]+$/.test(name)) {
    read.refuse('name', 'Must be the name of a header field, without spaces and colon')
  } else if (PROTECTED_FIELDS.test(name)) {
    read.refuse('name', `${name} belongs to the message; choose another field, such as X-Company`)
  }
  return { name, value: read.required('value', 900) }
}

function subjectOf(read: Reader) {
  const [prefix, suffix, replace] = ['prefix', 'suffix', 'replace'].map((name) =>
    read.text(name, 255),
  )
  if (prefix === undefined && suffix === undefined && replace === undefined) {
    read.refuse('prefix', 'Send prefix, suffix or replace')
  }
  return {
    ...(prefix !== undefined && { prefix }),
    ...(suffix !== undefined && { suffix }),
    ...(replace !== undefined && { replace }),
  }
}

function addressOf(read: Reader): string {
  const address = read.required('address', 254).trim().toLowerCase()
  if (address !== '' && !isAddress(address)) read.refuse('address', 'Must be an email address')
  return address
}

function replyOf(read: Reader): string {
  const message = read.required('message', 400)
  if (/[^\x20-\x7e]/.test(message)) {
    read.refuse('message', 'Must be ASCII: other characters do not fit into a mail server’s reply')
  }
  return message
}

function disclaimerOf(read: Reader) {
  const text = read.required('text', 10_000, 'many')
  const html = read.text('html', 20_000, 'many')
  const position = read.text('position', 10) ?? 'end'
  if (position !== 'start' && position !== 'end') {
    read.refuse('position', "Must be 'start' or 'end'")
  }
  return {
    text,
    ...(html !== undefined && { html }),
    position: position === 'start' ? ('start' as const) : ('end' as const),
  }
}

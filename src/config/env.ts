import { parseNetworks } from '../lib/ip.ts'

/** A malformed variable; the message is the one line that the operator sees. */
export class InvalidVariable extends Error {
  constructor(name: string, expected: string, value: string) {
    // The part of a URL before the @ may hold a password.
    const shown = value.replace(/^([a-z+]*:\/\/)?.*@/is, '$1…@')
    super(`${name} must be ${expected}, but is ${JSON.stringify(shown)}`)
  }
}

/** One environment variable: what it means, its default and how its text is read. */
export interface Variable<Value> {
  description: string
  fallback: Value
  /** Completes the sentence "NAME must be …". */
  expected: string
  /** The start message does not show the value. */
  isSecret?: boolean
  /** Returns undefined for a malformed text. */
  parse(text: string): Value | undefined
}

interface Range {
  min?: number
  max?: number
}

export function text(description: string): Variable<string | undefined>
export function text(description: string, fallback: string): Variable<string>
export function text(description: string, fallback?: string): Variable<string | undefined> {
  return { description, fallback, expected: 'text', parse: (value) => value }
}

export function integer(description: string, fallback: number, range?: Range): Variable<number>
export function integer(
  description: string,
  fallback: undefined,
  range?: Range,
): Variable<number | undefined>
export function integer(
  description: string,
  fallback: number | undefined,
  { min = 0, max = Number.MAX_SAFE_INTEGER }: Range = {},
): Variable<number | undefined> {
  const upTo = max === Number.MAX_SAFE_INTEGER ? 'up' : `to ${max}`
  return {
    description,
    fallback,
    expected: `a whole number from ${min} ${upTo}`,
    parse(value) {
      const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
      return number >= min && number <= max ? number : undefined
    },
  }
}

/** A whole number, or `auto`, which is the default. */
export function numberOrAuto(description: string, range: Range): Variable<number | 'auto'> {
  const { expected, parse } = integer(description, 0, range)
  return {
    description,
    fallback: 'auto',
    expected: `auto or ${expected}`,
    parse: (value) => (value === 'auto' ? 'auto' : parse(value)),
  }
}

/** A TCP port. Pass `min: 0` where 0 has a meaning of its own. */
export function port(description: string, fallback: number): Variable<number>
export function port(
  description: string,
  fallback: undefined,
  range: { min: number },
): Variable<number | undefined>
export function port(
  description: string,
  fallback: number | undefined,
  { min } = { min: 1 },
): Variable<number | undefined> {
  return integer(description, fallback as undefined, { min, max: 65535 })
}

/** A variable of the operating contract that this version cannot honour; a value stops the start. */
export const refused = (description: string, reason: string): Variable<undefined> => ({
  description,
  fallback: undefined,
  expected: `unset, because ${reason}`,
  isSecret: true,
  parse: () => undefined,
})

export const flag = (description: string, fallback: boolean): Variable<boolean> => ({
  description,
  fallback,
  expected: 'true or false',
  parse(value) {
    const word = value.toLowerCase()
    if (['true', '1', 'yes'].includes(word)) return true
    return ['false', '0', 'no'].includes(word) ? false : undefined
  },
})

export const choice = <const Choice extends string>(
  description: string,
  fallback: NoInfer<Choice>,
  choices: readonly Choice[],
): Variable<Choice> => ({
  description,
  fallback,
  expected: `one of ${choices.join(', ')}`,
  parse: (value) => choices.find((choice) => choice === value),
})

export const list = (
  description: string,
  expected: string,
  accepts: (entry: string) => boolean,
): Variable<string[]> => ({
  description,
  fallback: [],
  expected: `a comma list of ${expected}`,
  parse(value) {
    const entries = value
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '')
    return entries.every(accepts) ? entries : undefined
  },
})

export const words = (description: string, fallback: string[]): Variable<string[]> => ({
  ...list(description, 'words', () => true),
  fallback,
})

export const numbers = (description: string, fallback: number[]): Variable<number[]> => ({
  description,
  fallback,
  expected: 'a comma list of whole numbers',
  parse(value) {
    const entries = value.split(',').map((entry) => entry.trim())
    return entries.every((entry) => /^\d{1,9}$/.test(entry)) ? entries.map(Number) : undefined
  },
})

export const networks = (description: string): Variable<string[]> =>
  list(description, 'addresses and networks such as 10.0.0.0/8', (entry) =>
    Boolean(parseNetworks([entry])),
  )

export const url = (
  description: string,
  protocols: readonly string[] = ['http:', 'https:'],
): Variable<string | undefined> => ({
  description,
  fallback: undefined,
  expected: `an address that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
  parse: (value) =>
    URL.canParse(value) && protocols.includes(new URL(value).protocol) ? value : undefined,
})

type Values<Variables> = {
  [Name in keyof Variables]: Variables[Name] extends Variable<infer Value> ? Value : never
}

/** Reads every variable; an unset or empty one gets its fallback. */
export function readVariables<Variables extends Record<string, Variable<unknown>>>(
  variables: Variables,
  environment: NodeJS.ProcessEnv,
): Values<Variables> {
  const values: Record<string, unknown> = {}
  for (const [name, { fallback, parse, expected, isSecret }] of Object.entries(variables)) {
    const given = environment[name]?.trim()
    const value = given ? parse(given) : fallback
    if (given && value === undefined) {
      throw new InvalidVariable(name, expected, isSecret ? '…' : given)
    }
    values[name] = value
  }
  return values as Values<Variables>
}

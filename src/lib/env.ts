import { parseNetworks } from './cidr.ts'

/** A variable that is missing or malformed; its message is the one line the operator sees. */
export class InvalidVariable extends Error {
  constructor(name: string, wants: string, got: string) {
    // Before the @ of an address stands a password.
    super(
      `${name} must be ${wants}, but is ${JSON.stringify(got.replace(/^([a-z+]*:\/\/)?.*@/is, '$1…@'))}`,
    )
  }
}

export interface Variable<Value> {
  description: string
  fallback: Value
  /** Undefined when the text will not do. */
  parse(text: string): Value | undefined
  wants: string
}

const variable = <Value>(
  description: string,
  fallback: Value,
  wants: string,
  parse: (text: string) => Value | undefined,
): Variable<Value> => ({ description, fallback, wants, parse })

type Optional<Fallback, Value> = Fallback extends undefined ? Value | undefined : Value

export const text = <const Fallback extends string | undefined>(
  description: string,
  fallback: Fallback,
): Variable<Optional<Fallback, string>> =>
  variable(description, fallback as Optional<Fallback, string>, 'text', (value) => value as never)

export const integer = <const Fallback extends number | undefined>(
  description: string,
  fallback: Fallback,
  { min = 0, max = Number.MAX_SAFE_INTEGER } = {},
): Variable<Optional<Fallback, number>> =>
  variable(
    description,
    fallback as Optional<Fallback, number>,
    max === Number.MAX_SAFE_INTEGER
      ? `a whole number from ${min} up`
      : `a whole number from ${min} to ${max}`,
    (value) => {
      const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
      return number >= min && number <= max ? (number as never) : undefined
    },
  )

export const flag = (description: string, fallback: boolean): Variable<boolean> =>
  variable(description, fallback, 'true or false', (value) => {
    const word = value.toLowerCase()
    if (['true', '1', 'yes'].includes(word)) return true
    return ['false', '0', 'no'].includes(word) ? false : undefined
  })

export const choice = <const Choice extends string>(
  description: string,
  fallback: NoInfer<Choice>,
  choices: readonly Choice[],
): Variable<Choice> =>
  variable(description, fallback, `one of ${choices.join(', ')}`, (value) =>
    choices.find((one) => one === value),
  )

export const list = (description: string, wants: string, accepts: (entry: string) => boolean) =>
  variable<string[]>(description, [], `a comma list of ${wants}`, (value) => {
    const entries = value
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '')
    return entries.every(accepts) ? entries : undefined
  })

export const words = (description: string, fallback: string[]): Variable<string[]> => ({
  ...list(description, 'words', () => true),
  fallback,
})

export const numbers = (description: string, fallback: number[]): Variable<number[]> =>
  variable(description, fallback, 'a comma list of whole numbers', (value) => {
    const entries = value.split(',').map((entry) => entry.trim())
    return entries.every((entry) => /^\d{1,9}$/.test(entry)) ? entries.map(Number) : undefined
  })

export const networks = (description: string) =>
  list(description, 'addresses and networks such as 10.0.0.0/8', (entry) =>
    Boolean(parseNetworks([entry])),
  )

export const url = (description: string, protocols: readonly string[]) =>
  variable<string | undefined>(
    description,
    undefined,
    `an address that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
    (value) =>
      URL.canParse(value) && protocols.includes(new URL(value).protocol) ? value : undefined,
  )

type Values<Variables> = {
  [Name in keyof Variables]: Variables[Name] extends Variable<infer Value> ? Value : never
}

/** Reads every variable; an unset or empty one takes its fallback. */
export function readVariables<Variables extends Record<string, Variable<unknown>>>(
  variables: Variables,
  environment: NodeJS.ProcessEnv,
): Values<Variables> {
  const values: Record<string, unknown> = {}
  for (const [name, { fallback, parse, wants }] of Object.entries(variables)) {
    const given = environment[name]?.trim()
    const value = given ? parse(given) : fallback
    if (given && value === undefined) throw new InvalidVariable(name, wants, given)
    values[name] = value
  }
  return values as Values<Variables>
}

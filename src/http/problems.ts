import type { ErrorObject } from 'ajv'
import type { Problem } from '../errors.ts'

const MAX_PROBLEMS = 20
const MAX_STEP = 100

/** Converts the first Ajv errors to problems with a location, a message and a stable type. */
export function problemsOf(errors: readonly ErrorObject[], part: string): Problem[] {
  return errors.slice(0, MAX_PROBLEMS).map((error) => {
    const path = error.instancePath
      .split('/')
      .slice(1)
      // Names of the caller may be as long as the body.
      .map((step) => step.slice(0, MAX_STEP).replaceAll('~1', '/').replaceAll('~0', '~'))
      .map((step) => (/^\d+$/.test(step) ? Number(step) : step))
    const missing = error.keyword === 'required' ? [String(error.params.missingProperty)] : []
    return { loc: [part, ...path, ...missing], ...sentence(error) }
  })
}

/** Returns a message such as `page must be at least 1`. */
export function headline({ loc, msg }: Problem): string {
  const name = loc.slice(1).join('.')
  const lower = msg.charAt(0).toLowerCase() + msg.slice(1)
  return name === '' ? msg : `${name} ${lower}`
}

function sentence({ keyword, params, message, parentSchema }: ErrorObject): {
  msg: string
  type: string
} {
  switch (keyword) {
    case 'required':
      return { msg: 'Is required', type: 'missing' }
    case 'type':
      return typeSentence(String(params.type))
    case 'enum':
      return {
        msg: parentSchema?.wants ?? `Must be one of ${params.allowedValues.map(String).join(', ')}`,
        type: 'enum',
      }
    case 'const':
      return { msg: `Must be ${JSON.stringify(params.allowedValue)}`, type: 'literal_error' }
    case 'minLength':
      return {
        msg:
          params.limit === 1
            ? 'Must not be empty'
            : `Must have at least ${params.limit} characters`,
        type: 'string_too_short',
      }
    case 'maxLength':
      return { msg: `Must have at most ${params.limit} characters`, type: 'string_too_long' }
    case 'minimum':
      return { msg: `Must be at least ${params.limit}`, type: 'greater_than_equal' }
    case 'maximum':
      return { msg: `Must be at most ${params.limit}`, type: 'less_than_equal' }
    case 'minItems':
      return { msg: `Must have at least ${params.limit} entries`, type: 'too_short' }
    case 'maxItems':
      return { msg: `Must have at most ${params.limit} entries`, type: 'too_long' }
    case 'pattern':
      return { msg: 'Has an unexpected format', type: 'string_pattern_mismatch' }
    case 'format':
      return { msg: `Must be a valid ${params.format}`, type: 'value_error' }
    default:
      return { msg: message ?? 'Is invalid', type: 'value_error' }
  }
}

function typeSentence(type: string): { msg: string; type: string } {
  if (type === 'boolean') return { msg: "Must be 'true' or 'false'", type: 'bool_parsing' }
  const words: Record<string, string> = {
    string: 'a string',
    integer: 'a whole number',
    number: 'a number',
    object: 'an object',
    array: 'a list',
  }
  const expected = type
    .split(',')
    .map((one) => words[one] ?? one)
    .join(' or ')
  return { msg: `Must be ${expected}`, type: `${type.split(',')[0]}_type` }
}

import { isObject } from '../../../lib/is-object.ts'
import type { Answers, Invocation } from './answers.ts'
import { type Arguments, isId } from './arguments.ts'
import { invalidArguments, JmapError, RequestRefused } from './errors.ts'
import { CORE, LIMITS, MAIL, SUBMISSION, VACATION } from './limits.ts'

const MAX_PATH = 1000

export interface JmapRequest {
  using: string[]
  methodCalls: Invocation[]
  createdIds: Record<string, string> | undefined
}

const KNOWN = [CORE, MAIL, SUBMISSION, VACATION]

/** Checks the shape of a request, RFC 8620 section 3.3. */
export function readRequest(body: unknown): JmapRequest {
  if (!isObject(body)) throw notRequest('The request must be an object')
  const { using, methodCalls, createdIds } = body
  if (!Array.isArray(using) || using.some((one) => typeof one !== 'string')) {
    throw notRequest('using must be a list of strings')
  }
  if (!Array.isArray(methodCalls) || !methodCalls.every(isInvocation)) {
    throw notRequest('methodCalls must be a list of [name, arguments, id]')
  }
  if (createdIds !== undefined && createdIds !== null && !isIdMap(createdIds)) {
    throw notRequest('createdIds must be an object of ids')
  }
  const unknown = using.find((capability) => !KNOWN.includes(capability))
  if (unknown !== undefined) {
    throw new RequestRefused('unknownCapability', `${unknown} is not supported`)
  }
  if (methodCalls.length > LIMITS.maxCallsInRequest) {
    throw new RequestRefused('limit', `At most ${LIMITS.maxCallsInRequest} calls are allowed`, {
      limit: 'maxCallsInRequest',
    })
  }
  return { using, methodCalls, createdIds: createdIds ?? undefined }
}

const notRequest = (detail: string) => new RequestRefused('notRequest', detail)

const isInvocation = (call: unknown): call is Invocation =>
  Array.isArray(call) &&
  call.length === 3 &&
  typeof call[0] === 'string' &&
  isObject(call[1]) &&
  typeof call[2] === 'string'

const isIdMap = (value: unknown): value is Record<string, string> =>
  isObject(value) && Object.entries(value).flat().every(isId)

/** Replaces arguments such as `#ids` by a part of an earlier answer, RFC 8620 section 3.7. */
export async function withReferences(args: Arguments, answers: Answers): Promise<Arguments> {
  const entries: [string, unknown][] = []
  for (const [name, value] of Object.entries(args)) {
    if (!name.startsWith('#')) {
      entries.push([name, value])
      continue
    }
    const plain = name.slice(1)
    if (plain in args) throw invalidArguments(`${plain} is given twice`)
    const found = referenced(value, answers.list)
    await answers.refer(found)
    entries.push([plain, found])
  }
  return Object.fromEntries(entries)
}

function referenced(reference: unknown, answers: readonly Invocation[]): unknown {
  if (!isObject(reference) || typeof reference.path !== 'string') throw unresolved()
  if (reference.path.length > MAX_PATH) throw unresolved()
  const answer = answers.find(
    ([name, , callId]) => callId === reference.resultOf && name === reference.name,
  )
  if (!answer) throw unresolved()
  const steps = reference.path.split('/').slice(1)
  return follow(
    answer[1],
    steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')),
  )
}

function follow(value: unknown, steps: readonly string[], at = 0): unknown {
  const step = steps[at]
  if (step === undefined) return value
  if (step === '*' && Array.isArray(value)) {
    return value.flatMap((one) => follow(one, steps, at + 1))
  }
  if (Array.isArray(value) && /^\d+$/.test(step) && Number(step) < value.length) {
    return follow(value[Number(step)], steps, at + 1)
  }
  if (isObject(value) && Object.hasOwn(value, step)) return follow(value[step], steps, at + 1)
  throw unresolved()
}

const unresolved = () => new JmapError('invalidResultReference')

import { ApiError } from '../../api/client.ts'

export type Call = [name: string, args: Record<string, unknown>, id: string]

interface MethodError {
  type: string
  description?: string
}

interface SetAnswer {
  created?: Record<string, { id: string; blobId?: string }> | null
  notCreated?: Record<string, MethodError> | null
  notUpdated?: Record<string, MethodError> | null
  notDestroyed?: Record<string, MethodError> | null
}

/** The answers to the calls of a request, by the id of the call. */
export class Answers {
  readonly #answers: readonly Call[]
  constructor(answers: readonly Call[]) {
    this.#answers = answers
  }

  /** The answer to a call. Where the call failed, its error is thrown. */
  get<Answer>(id: string): Answer {
    const [name, answer] = this.#first(id)
    if (name === 'error') throw methodError(answer as unknown as MethodError)
    return answer as Answer
  }

  /** undefined where the call failed and the screen can do without it. */
  optional<Answer>(id: string): Answer | undefined {
    const [name, answer] = this.#first(id)
    return name === 'error' ? undefined : (answer as Answer)
  }

  /** The answer to a /set, of which every change must have succeeded. */
  set(id: string): SetAnswer {
    const answer = this.get<SetAnswer>(id)
    const { notCreated, notUpdated, notDestroyed } = answer
    const failed = [notCreated, notUpdated].flatMap((one) => Object.values(one ?? {}))
    // An object that is gone already need not be removed.
    const left = Object.values(notDestroyed ?? {}).filter(({ type }) => type !== 'notFound')
    const [first] = [...failed, ...left]
    if (first) throw methodError(first)
    return answer
  }

  /** A call can have several answers with its id; the first is its own. */
  #first(id: string): Call {
    const found = this.#answers.find(([, , of]) => of === id)
    return found ?? ['error', { type: 'serverFail' }, id]
  }
}

const AWAY = new Set(['serverUnavailable', 'serverFail', 'serverPartialFail'])

/** An error of a method in the form of the API's errors. */
function methodError({ type, description }: MethodError): ApiError {
  return new ApiError({
    status: AWAY.has(type) ? 503 : 400,
    message: description || wordsOf(type),
    code: type,
  })
}

/** `forbiddenFrom` reads as "Forbidden from". */
const wordsOf = (type: string): string => {
  const words = type.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Fills `{accountId}` of a URL of the session; the host is that of the page, which has the cookie. */
export const filled = (template: string, values: Record<string, string>): string =>
  template
    .replace(/^https?:\/\/[^/]*/, '')
    .replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))

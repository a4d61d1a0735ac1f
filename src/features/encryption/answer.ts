import * as errors from './encryption.errors.ts'

/** Refused input of a task, in words for the caller. */
export class Refused extends Error {}

export class WrongPassphrase extends Refused {}

/** The result of a task: a value, or why the input was refused. */
export type Answer<Value> =
  | { value: Value; problem?: undefined }
  | { problem: string; isWrongPassphrase?: boolean }

export async function answer<Value>(work: () => Promise<Value>): Promise<Answer<Value>> {
  try {
    return { value: await work() }
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return {
      problem: error.message,
      ...(error instanceof WrongPassphrase && { isWrongPassphrase: true }),
    }
  }
}

/** The value, on the other side of the thread. */
export function accepted<Value>(answer: Answer<Value>): Value {
  if (answer.problem === undefined) return answer.value
  throw answer.isWrongPassphrase ? new errors.WrongPassphrase() : new errors.Refused(answer.problem)
}

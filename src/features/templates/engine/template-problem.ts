export type ProblemKind = 'syntax' | 'missing' | 'link' | 'limit' | 'time' | 'render'

/** The template or its variables are at fault; the message is for the caller. */
export class TemplateProblem extends Error {
  readonly kind: ProblemKind
  constructor(kind: ProblemKind, message: string) {
    super(message)
    this.kind = kind
  }
}

/** A problem as it leaves a worker thread. */
export interface PlainProblem {
  problem: { kind: ProblemKind; message: string }
}

/** Returns problems of the template as data: a thread passes other errors on without their class. */
export function orProblem<Result>(work: () => Result): Result | PlainProblem {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof TemplateProblem)) throw error
    return { problem: { kind: error.kind, message: error.message } }
  }
}

export function withoutProblem<Result extends object>(result: Result | PlainProblem): Result {
  if (!('problem' in result)) return result as Result
  throw new TemplateProblem(result.problem.kind, result.problem.message)
}

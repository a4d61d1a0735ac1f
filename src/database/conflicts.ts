/** The unique or check constraint that rejected a row; undefined for any other error. */
export function violatedConstraint(error: unknown): string | undefined {
  const { code, constraint_name } = error as { code?: string; constraint_name?: string }
  return code === '23505' || code === '23514' ? constraint_name : undefined
}

/** Runs the work and replaces the violation of a named constraint by the error of that name. */
export async function refusing<Result>(
  errors: Record<string, () => Error | Promise<Error>>,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const refusal = errors[violatedConstraint(error) ?? '']
    throw refusal ? await refusal() : error
  }
}

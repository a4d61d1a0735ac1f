/** Name of the constraint or unique index that refused a row, if that is what the error is about. */
export function violatedConstraint(error: unknown): string | undefined {
  const { code, constraint_name } = error as { code?: string; constraint_name?: string }
  return code === '23505' || code === '23514' ? constraint_name : undefined
}

/** Turns the refusal of a unique index or a check into the error that tells the caller. */
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

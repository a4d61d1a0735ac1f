/** Name of the unique constraint or index that refused a row, if that is what the error is about. */
export function violatedUnique(error: unknown): string | undefined {
  const { code, constraint_name } = error as { code?: string; constraint_name?: string }
  return code === '23505' ? constraint_name : undefined
}

/** Turns the refusal of a unique index into the error that tells the caller. */
export async function refusing<Result>(
  errors: Record<string, () => Error | Promise<Error>>,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const refusal = errors[violatedUnique(error) ?? '']
    throw refusal ? await refusal() : error
  }
}

/**
 * Awaits the rest of a start. When it fails, stops what was started before: the test never gets a server that
 * it could stop.
 */
export async function orStop<Result>(rest: Promise<Result>, stop: () => unknown): Promise<Result> {
  try {
    return await rest
  } catch (error) {
    await stop()
    throw error
  }
}

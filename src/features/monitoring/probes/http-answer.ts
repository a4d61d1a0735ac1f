import { exchange } from '../../../outbound/exchange.ts'

const MAX_BYTES = 4 * 1024 * 1024

/** Returns the body of a 200 response; throws an error with a text otherwise. */
export async function httpAnswer(
  url: string,
  { patienceMs, headers = {} }: { patienceMs: number; headers?: Record<string, string> },
): Promise<string> {
  const limits = { timeoutMs: patienceMs, maxBytes: MAX_BYTES }
  const { status, text, isCut } = await exchange(new URL(url), { headers, ...limits })
  if (isCut) throw new Error('the answer has no end')
  if (status !== 200) throw new Error(`answered with status ${status}`)
  return text
}

import { request } from 'undici'

const MAX_BYTES = 4 * 1024 * 1024

/** The body of a 200; everything else is an error in words. */
export async function httpAnswer(
  url: string,
  { patienceMs, headers = {} }: { patienceMs: number; headers?: Record<string, string> },
): Promise<string> {
  const signal = AbortSignal.timeout(patienceMs)
  const { statusCode, body } = await request(url, { signal, headers }).catch((error) => {
    throw new Error(signal.aborted ? `no answer within ${patienceMs} ms` : error.message)
  })
  // Whoever leaves an answer unread is told so by an event, and nobody need hear it.
  body.on('error', () => {})
  let text = ''
  for await (const chunk of body) {
    text += chunk
    if (text.length > MAX_BYTES) throw new Error('the answer has no end')
  }
  if (statusCode !== 200) throw new Error(`answered with status ${statusCode}`)
  return text
}

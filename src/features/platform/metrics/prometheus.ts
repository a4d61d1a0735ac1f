import { request } from 'undici'
import { expressions, type Range, type RangeMetric, type Series } from './metric-names.ts'
import { MetricsRefused, MetricsUnavailable } from './metrics.errors.ts'

const TIMEOUT_MS = 15_000
const MAX_BYTES = 8 * 1024 * 1024
const MAX_SERIES = 200

interface Result {
  metric?: Record<string, string>
  values?: [number, string][]
}

/** Asks a Prometheus. Only expressions of our own are sent, and only so much of an answer is read. */
export async function queryPrometheus(
  base: string,
  metric: RangeMetric,
  { start, end, stepSeconds }: Range,
): Promise<Series[]> {
  const url = new URL(`${base.replace(/\/+$/, '')}/api/v1/query_range`)
  url.search = new URLSearchParams({
    query: expressions[metric],
    start: start.toISOString(),
    end: end.toISOString(),
    step: `${stepSeconds}s`,
  }).toString()
  const text = await fetchText(url)
  const results = resultsIn(text)
  return results.slice(0, MAX_SERIES).map(({ metric: labels = {}, values = [] }) => ({
    metric,
    label: labels.job ?? labels.instance ?? labels.__name__ ?? metric,
    points: values.flatMap(([t, v]) => {
      const value = Number(v)
      // A JSON number is finite; a gap says as much.
      return Number.isFinite(value) ? [{ t: new Date(t * 1000).toISOString(), v: value }] : []
    }),
  }))
}

async function fetchText(url: URL): Promise<string> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const { statusCode, body } = await request(url, { signal }).catch(() => {
    throw new MetricsUnavailable()
  })
  // Whoever leaves an answer unread is told so by an event, and nobody need hear it.
  body.on('error', () => {})
  if (statusCode >= 300) {
    body.destroy()
    throw new MetricsRefused(`answered with status ${statusCode}`)
  }
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of body) {
      size += chunk.length
      if (size > MAX_BYTES) break
      chunks.push(chunk)
    }
  } catch {
    throw new MetricsUnavailable()
  }
  if (size > MAX_BYTES) {
    throw new MetricsRefused('sent more than can be shown; ask for fewer hours or a larger step')
  }
  return Buffer.concat(chunks).toString('utf8')
}

function resultsIn(text: string): Result[] {
  try {
    const { data } = JSON.parse(text) as { data?: { result?: Result[] } }
    if (Array.isArray(data?.result)) return data.result
  } catch {
    // Said below.
  }
  throw new MetricsRefused('sent something that is no answer to a range query')
}

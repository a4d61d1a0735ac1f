import { exchange } from '../../../outbound/exchange.ts'
import { expressions, type Range, type RangeMetric, type Series } from './metric-names.ts'
import { MetricsRefused, MetricsUnavailable } from './metrics.errors.ts'

const TIMEOUT_MS = 15_000
const MAX_BYTES = 8 * 1024 * 1024
const MAX_SERIES = 200

interface Result {
  metric?: Record<string, string>
  values?: [number, string][]
}

/** Runs a range query with one of our own expressions. The size of the response is limited. */
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
      // JSON has no NaN or infinity, so these points become gaps.
      return Number.isFinite(value) ? [{ t: new Date(t * 1000).toISOString(), v: value }] : []
    }),
  }))
}

async function fetchText(url: URL): Promise<string> {
  const limits = { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES }
  const { status, text, isCut } = await exchange(url, limits).catch(() => {
    throw new MetricsUnavailable()
  })
  if (status >= 300) throw new MetricsRefused(`answered with status ${status}`)
  if (isCut) {
    throw new MetricsRefused('sent more than can be shown; ask for fewer hours or a larger step')
  }
  return text
}

function resultsIn(text: string): Result[] {
  try {
    const { data } = JSON.parse(text) as { data?: { result?: Result[] } }
    if (Array.isArray(data?.result)) return data.result
  } catch {
    // Falls through to the error below.
  }
  throw new MetricsRefused('sent a response that is not the result of a range query')
}

import { type LabelValues, Summary } from 'prom-client'

const WINDOW = 1000
const QUANTILES = [0.5, 0.95, 0.99]

type Labels = LabelValues<string>

/**
 * A summary with exact quantiles over the last 1000 observations of each series, as the API
 * specification asks. The quantiles of prom-client are estimates over a time window.
 */
export class RecentSummary extends Summary {
  readonly #series = new Map<string, Series>()

  override observe(labels: Labels | number, value = 0): void {
    if (typeof labels === 'number') throw new TypeError('the labels are missing')
    const key = Object.values(labels).join('\n')
    let series = this.#series.get(key)
    if (!series) {
      series = new Series(labels)
      this.#series.set(key, series)
    }
    series.add(value)
  }

  override async get() {
    const metric = await super.get()
    const values = [...this.#series.values()].flatMap((series) => series.samples(metric.name))
    return { ...metric, values }
  }
}

/** The observations of one combination of labels; a ring buffer holds the newest. */
class Series {
  readonly #labels: Labels
  readonly #newest: number[] = []
  #count = 0
  #sum = 0

  constructor(labels: Labels) {
    this.#labels = labels
  }

  add(value: number): void {
    this.#newest[this.#count % WINDOW] = value
    this.#count++
    this.#sum += value
  }

  samples(name: string) {
    const sorted = Float64Array.from(this.#newest).sort()
    const quantiles = QUANTILES.map((quantile) => ({
      labels: { ...this.#labels, quantile },
      value: sorted[Math.ceil(quantile * sorted.length) - 1] ?? 0,
    }))
    return [
      ...quantiles,
      { metricName: `${name}_sum`, labels: this.#labels, value: this.#sum },
      { metricName: `${name}_count`, labels: this.#labels, value: this.#count },
    ]
  }
}

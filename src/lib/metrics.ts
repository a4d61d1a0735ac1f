import { Counter, Gauge, type Registry } from 'prom-client'

interface Description {
  registry: Registry
  name: string
  help: string
  /** Name of the label, when there is one value for each of its values. */
  label?: string
}

type Values = number | Record<string, number>

/** A counter whose values are kept elsewhere and read at each scrape. */
export function scrapedCounter(description: Description, read: () => Values): void {
  const { registry, name, help, label } = description
  new Counter({
    name,
    help,
    labelNames: label === undefined ? [] : [label],
    registers: [registry],
    collect() {
      this.reset()
      for (const [labels, value] of seriesOf(read(), label)) this.inc(labels, value)
    },
  })
}

/** A gauge whose values are kept elsewhere and read at each scrape. */
export function scrapedGauge(description: Description, read: () => Values): void {
  const { registry, name, help, label } = description
  new Gauge({
    name,
    help,
    labelNames: label === undefined ? [] : [label],
    registers: [registry],
    collect() {
      this.reset()
      for (const [labels, value] of seriesOf(read(), label)) this.set(labels, value)
    },
  })
}

const seriesOf = (values: Values, label = ''): [Record<string, string>, number][] =>
  typeof values === 'number'
    ? [[{}, values]]
    : Object.entries(values).map(([key, value]) => [{ [label]: key }, value])

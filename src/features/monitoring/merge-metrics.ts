/** A metrics page of one process. */
export interface MetricsPage {
  /** Distinguishes the series of this process. */
  process: string
  text: string
}

interface Labelling {
  label?: string
  /** Chooses the processes whose series get the label; without it, those that share a metric. */
  isLabelled?(process: string): boolean
}

interface Family {
  comments: string[]
  samples: { process: string; line: string }[]
}

/**
 * Joins pages in the text format of Prometheus. A metric has one HELP and one TYPE line and all its
 * series together. When several processes have a metric, their series get the label `process`.
 */
export function mergeMetrics(
  pages: readonly MetricsPage[],
  { label = 'process', isLabelled }: Labelling = {},
): string {
  const families = new Map<string, Family>()
  for (const { process, text } of pages) {
    let current: Family | undefined
    let isFirst = false
    for (const line of text.split('\n')) {
      const name = /^# HELP (\S+)/.exec(line)?.[1]
      if (name !== undefined) {
        current = families.get(name)
        isFirst = current === undefined
        current ??= { comments: [], samples: [] }
        families.set(name, current)
      }
      if (line === '' || !current) continue
      if (!line.startsWith('#')) current.samples.push({ process, line })
      else if (isFirst) current.comments.push(line)
    }
  }
  return [...families.values()].map((family) => written(family, label, isLabelled)).join('')
}

function written(
  { comments, samples }: Family,
  label: string,
  isLabelled?: Labelling['isLabelled'],
): string {
  const isShared = new Set(samples.map(({ process }) => process)).size > 1
  const lines = samples.map(({ line, process }) =>
    (isLabelled?.(process) ?? isShared) ? withLabel(line, label, process) : line,
  )
  return `${[...comments, ...lines].join('\n')}\n\n`
}

/** Adds the label to a sample: `name{labels} value` or `name value`. */
function withLabel(sample: string, key: string, value: string): string {
  const label = `${key}="${value.replace(/[\\"]/g, '\\$&')}"`
  const name = /^[^{\s]+/.exec(sample)?.[0] ?? ''
  const rest = sample.slice(name.length)
  if (!rest.startsWith('{')) return `${name}{${label}}${rest}`
  const separator = rest.startsWith('{}') ? '' : ','
  return `${name}{${label}${separator}${rest.slice(1)}`
}

import { lruMap } from '../../../lib/lru-map.ts'
import {
  type Parsed,
  parseSource,
  RENDER_LIMIT_MS,
  type Rendered,
  type RenderOptions,
  renderParsed,
  type Source,
} from './liquid.ts'
import { orProblem, TemplateProblem } from './template-problem.ts'

interface Wanted {
  /** Names the source: a version of a template. */
  name: string
  source: Source
  sets: readonly object[]
  options: RenderOptions
}

const MAX_ALL_BYTES = 16 * 1024 * 1024
const known = lruMap<string, Parsed>(50)

function parsedOnce(name: string, source: Source): Parsed {
  let parsed = known.get(name)
  if (!parsed) {
    parsed = parseSource(source)
    known.set(name, parsed)
  }
  return parsed
}

/** Renders a template with many sets of variables. The first problem ends it. */
export default ({ name, source, sets, options }: Wanted) =>
  orProblem((): { results: Rendered[] } => {
    const parsed = parsedOnce(name, source)
    let size = 0
    const results = sets.map((variables, at) => {
      const rendered = renderSet(parsed, variables, options, sets.length > 1 ? at : undefined)
      size += (rendered.html?.length ?? 0) + (rendered.plaintext?.length ?? 0)
      if (size > MAX_ALL_BYTES) {
        throw new TemplateProblem('limit', 'The rendered texts are too large; send fewer sets')
      }
      return rendered
    })
    return { results }
  })

/** A problem of one of many sets names its place. */
function renderSet(
  parsed: Parsed,
  variables: object,
  options: RenderOptions,
  at: number | undefined,
): Rendered {
  for (let tries = 1; ; tries++) {
    const startedAt = threadTimeMs()
    try {
      return renderParsed(parsed, variables, options)
    } catch (error) {
      if (!(error instanceof TemplateProblem)) throw error
      if (error.kind === 'time' && wasInterrupted(startedAt, tries)) continue
      if (at === undefined) throw error
      throw new TemplateProblem(error.kind, `${error.message} (set ${at})`)
    }
  }
}

/** Node 20 does not know the processor time of a thread. */
const threadTimeMs = (): number | undefined => {
  const { threadCpuUsage } = process as { threadCpuUsage?: () => NodeJS.CpuUsage }
  const usage = threadCpuUsage?.()
  return usage && (usage.user + usage.system) / 1000
}

const MAX_TRIES = 20
const MAX_TRIES_BY_CLOCK = 3

/** The limit is one of the clock: on a busy machine a thread may have had no processor meanwhile. */
function wasInterrupted(startedAt: number | undefined, tries: number): boolean {
  const now = threadTimeMs()
  if (startedAt === undefined || now === undefined) return tries < MAX_TRIES_BY_CLOCK
  return tries < MAX_TRIES && now - startedAt < RENDER_LIMIT_MS / 2
}

import type { Core } from '../../core.ts'
import { invalidField } from '../../errors.ts'
import { lruMap } from '../../lib/lru-map.ts'
import { taskIn } from '../../lib/worker-pool.ts'
import { countTags } from './engine/check-source.ts'
import {
  type Parsed,
  parseSource,
  type Rendered,
  type RenderOptions,
  renderParsed,
  type Source,
} from './engine/liquid.ts'
import { TemplateProblem, withoutProblem } from './engine/template-problem.ts'
import type { RenderCounts } from './render-counts.ts'
import { TemplateRefused } from './templates.errors.ts'
import type { TemplateRow } from './templates.repository.ts'

export const MAX_VARIABLES_BYTES = 256 * 1024
/** Parsing and rendering a larger template could keep the event loop. */
const MAX_HERE_LENGTH = 32 * 1024
const MAX_HERE_TAGS = 300
const HERE_LIMIT_MS = 20
const MAX_PARSED = 500
const THREAD_LIMIT_MS = 20_000

const renderTask = taskIn<typeof import('./engine/render.task.ts')>(
  'features/templates/engine/render',
)

/** The texts of a template and a name for them that changes with each version. */
export type Renderable = Pick<TemplateRow, 'id' | 'organization_id' | 'version' | 'content_hash'> &
  Pick<TemplateRow, 'subject_template' | 'html_content' | 'compiled_html' | 'plaintext_content'>

export const sourceOf = (template: Renderable): Source => ({
  subject_template: template.subject_template,
  html: template.compiled_html ?? template.html_content,
  plaintext_content: template.plaintext_content,
})

/** Two templates with the same texts may share what was parsed. */
export const nameOf = ({ content_hash }: Renderable): string => content_hash

export function checkVariables(variables: object): void {
  if (Buffer.byteLength(JSON.stringify(variables)) > MAX_VARIABLES_BYTES) {
    throw invalidField('variables', `More than ${MAX_VARIABLES_BYTES / 1024} KB`)
  }
}

interface Needs extends Pick<Core, 'workers'> {
  counts: () => RenderCounts
}

export type Renderer = ReturnType<typeof renderer>

/** Renders small templates here and the others in a worker thread. */
export function renderer({ workers, counts }: Needs) {
  const known = lruMap<string, Parsed>(MAX_PARSED)

  function parsed(template: Renderable): Parsed {
    let found = known.get(nameOf(template))
    if (!found) {
      found = parseSource(sourceOf(template))
      known.set(nameOf(template), found)
    }
    return found
  }

  async function inThread(template: Renderable, sets: readonly object[], options: RenderOptions) {
    const input = { name: nameOf(template), source: sourceOf(template), sets, options }
    const limits = { owner: template.organization_id, timeLimitMs: THREAD_LIMIT_MS }
    return withoutProblem(await workers.run(renderTask, input, limits)).results
  }

  async function rendered(template: Renderable, variables: object, options: RenderOptions) {
    if (isSmall(sourceOf(template))) {
      try {
        return renderParsed(parsed(template), variables, { ...options, limitMs: HERE_LIMIT_MS })
      } catch (error) {
        const isTime = error instanceof TemplateProblem && error.kind === 'time'
        if (!isTime) throw error
      }
    }
    const [result] = await inThread(template, [variables], options)
    return result as Rendered
  }

  /** Problems of templates and variables are 400. */
  async function answering<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      counts().totals.refused++
      if (error instanceof TemplateProblem) throw new TemplateRefused(error.message)
      throw error
    }
  }

  return {
    async one(template: Renderable, variables: object, options: RenderOptions): Promise<Rendered> {
      checkVariables(variables)
      const result = await answering(() => rendered(template, variables, options))
      counts().add(template.id)
      return result
    },
    async many(template: Renderable, sets: readonly object[], options: RenderOptions) {
      for (const variables of sets) checkVariables(variables)
      const results = await answering(() => inThread(template, sets, options))
      counts().add(template.id, sets.length)
      return results
    },
    /** Not counted: the template is not stored. */
    preview(template: Renderable, variables: object, options: RenderOptions): Promise<Rendered> {
      checkVariables(variables)
      return answering(() => rendered(template, variables, options))
    },
    answering,
  }
}

const isSmall = ({ subject_template, html, plaintext_content }: Source): boolean =>
  subject_template.length + html.length + plaintext_content.length <= MAX_HERE_LENGTH &&
  countTags(subject_template) + countTags(html) + countTags(plaintext_content) <= MAX_HERE_TAGS

import { Context, type Emitter, Liquid, type Template, toValueSync } from 'liquidjs'
import { safeLink } from './safe-link.ts'
import { TemplateProblem } from './template-problem.ts'

export const MAX_TEMPLATE_BYTES = 200 * 1024
/** Time of one render in a worker thread, checked after each step; a step takes up to 20 ms more. */
export const RENDER_LIMIT_MS = 80
/** With ten times as much, sorting a long list takes more than a second. */
const MEMORY_LIMIT = 1_000_000
const MAX_OUTPUT = 1_000_000

/** They evaluate an expression for each item without a look at the time. */
const EXPRESSION_FILTERS = [
  'where_exp',
  'reject_exp',
  'group_by_exp',
  'has_exp',
  'find_exp',
  'find_index_exp',
]
/** They read other templates, and there are none. */
const FILE_TAGS = ['include', 'render', 'layout', 'block']

function engine(escapes: boolean): Liquid {
  const liquid = new Liquid({
    parseLimit: MAX_TEMPLATE_BYTES,
    renderLimit: RENDER_LIMIT_MS,
    memoryLimit: MEMORY_LIMIT,
    ownPropertyOnly: true,
    strictFilters: true,
    lenientIf: true,
    // No file is read: there is nothing but this list.
    templates: {},
    timezoneOffset: 0,
    locale: 'en',
    ...(escapes && { outputEscape: 'escape' as const }),
  })
  for (const name of EXPRESSION_FILTERS) delete liquid.filters[name]
  for (const name of FILE_TAGS) delete liquid.tags[name]
  liquid.registerFilter('url', safeLink)
  return liquid
}

// Subject and plain text are no HTML: escapes would be seen there.
const engines = { html: engine(true), text: engine(false) }

export interface Source {
  subject_template: string
  /** Compiled, where it was written in MJML. */
  html: string
  plaintext_content: string
}

export interface Parsed {
  subject: Template[]
  html: Template[]
  plaintext: Template[]
}

export function parseSource({ subject_template, html, plaintext_content }: Source): Parsed {
  return {
    subject: parsed('subject_template', subject_template),
    html: parsed('html_content', html),
    plaintext: parsed('plaintext_content', plaintext_content),
  }
}

function parsed(field: string, text: string): Template[] {
  try {
    return engines[field === 'html_content' ? 'html' : 'text'].parse(text)
  } catch (error) {
    throw new TemplateProblem('syntax', `${field}: ${firstLine(error)}`)
  }
}

export const FORMATS = ['html', 'plaintext', 'both'] as const
export type Format = (typeof FORMATS)[number]

export interface RenderOptions {
  format: Format
  /** A variable that is missing is an error. */
  strict: boolean
  limitMs?: number
}

export interface Rendered {
  subject: string
  html?: string
  plaintext?: string
}

export function renderParsed(
  { subject, html, plaintext }: Parsed,
  variables: object,
  { format, strict, limitMs = RENDER_LIMIT_MS }: RenderOptions,
): Rendered {
  const endsAt = performance.now() + limitMs
  const part = (kind: keyof typeof engines, templates: Template[]) =>
    rendered(kind, templates, variables, strict, Math.max(endsAt - performance.now(), 0.1))
  return {
    subject: oneLine(part('text', subject)),
    ...(format !== 'plaintext' && { html: part('html', html) }),
    ...(format !== 'html' && { plaintext: part('text', plaintext) }),
  }
}

const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()

function rendered(
  kind: keyof typeof engines,
  templates: Template[],
  variables: object,
  strict: boolean,
  renderLimit: number,
): string {
  const { options, renderer } = engines[kind]
  const limits = { sync: true, strictVariables: strict, ownPropertyOnly: true, renderLimit }
  const output = limitedOutput()
  try {
    const context = new Context(variables, options, { ...limits, memoryLimit: MEMORY_LIMIT })
    toValueSync(renderer.renderTemplates(templates, context, output))
  } catch (error) {
    throw problemOf(error)
  }
  return output.buffer
}

/** The limit on memory does not count plain text in a loop. */
function limitedOutput(): Emitter & { buffer: string } {
  return {
    buffer: '',
    write(value: unknown) {
      this.buffer += typeof value === 'string' ? value : textOf(value)
      if (this.buffer.length > MAX_OUTPUT) {
        throw new TemplateProblem('limit', 'The rendered text is too long')
      }
    },
  }
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(textOf).join('')
  return String(value)
}

function problemOf(error: unknown): Error {
  const inner = innermost(error)
  if (inner instanceof TemplateProblem) return inner
  if ('variableName' in inner) {
    return new TemplateProblem('missing', `Missing variable: ${inner.variableName}`)
  }
  if (/render limit exceeded/.test(inner.message)) {
    return new TemplateProblem('time', 'The template takes too long to render')
  }
  if (/alloc limit exceeded|call stack|string length/.test(inner.message)) {
    return new TemplateProblem('limit', 'The template needs too much memory to render')
  }
  return new TemplateProblem('render', `The template cannot be rendered: ${firstLine(error)}`)
}

function innermost(error: unknown): Error {
  let inner = error as Error & { originalError?: Error }
  while (inner.originalError) inner = inner.originalError
  return inner
}

const MAX_MESSAGE = 300
const firstLine = (error: unknown): string =>
  (String((error as Error).message).split('\n')[0] as string).slice(0, MAX_MESSAGE)

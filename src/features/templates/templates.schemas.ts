import { Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../http/envelope.ts'
import { PageQuery } from '../../http/paging.ts'
import { FORMATS, MAX_TEMPLATE_BYTES } from './engine/liquid.ts'

const CATEGORIES = ['transactional', 'marketing', 'notification', 'general'] as const
const MAX_SETS = 1000
const MAX_SUBJECT = 2000

const texts = {
  subject_template: Type.String({
    minLength: 1,
    maxLength: MAX_SUBJECT,
    description: 'Liquid; line breaks become spaces',
    examples: ['Your order {{ number }}'],
  }),
  html_content: Type.String({
    maxLength: MAX_TEMPLATE_BYTES,
    description: 'Liquid in HTML, or in MJML when it begins with `<mjml`',
    examples: ['<p>Hello {{ name }}, thank you for order {{ number }}.</p>'],
  }),
  plaintext_content: Type.Optional(
    Nullable(
      Type.String({
        maxLength: MAX_TEMPLATE_BYTES,
        description: 'Liquid; made from the HTML when it is absent',
      }),
    ),
  ),
}
const about = {
  name: Type.String({ minLength: 1, maxLength: 255, examples: ['Order confirmation'] }),
  description: Type.Optional(Nullable(Type.String({ maxLength: 2000 }))),
  category: Type.Optional(OneOf(CATEGORIES, { default: 'general' })),
  variables: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
      maxItems: 200,
      description: 'Names of variables, for people who use the template',
      examples: [['name', 'number']],
    }),
  ),
  metadata: Type.Optional(
    Type.Object(
      {},
      { additionalProperties: true, description: 'Kept with the template, never returned' },
    ),
  ),
}

const Summary = {
  id: Type.String(),
  organization_id: Type.String(),
  name: Type.String({ examples: ['Order confirmation'] }),
  description: Nullable(Type.String()),
  category: OneOf(CATEGORIES),
  subject_template: Type.String({ examples: ['Your order {{ number }}'] }),
  variables: Type.Array(Type.String()),
  content_hash: Type.String({ description: 'SHA-256 of the texts' }),
  version: Type.Integer(),
  render_count: Type.Integer({ description: 'Written once a second' }),
  active: Type.Boolean({ description: 'false: deleted' }),
  created_at: Timestamp,
  updated_at: Timestamp,
}

export const TemplateSummary = Type.Object(Summary, { title: 'TemplateSummary' })

export const Template = Type.Object(
  {
    ...Summary,
    html_content: Type.String({ description: 'As its author wrote it' }),
    compiled_html: Nullable(Type.String({ description: 'The HTML of a template in MJML' })),
    plaintext_content: Type.String(),
  },
  { title: 'Template' },
)

const warnings = Type.Array(Type.String(), {
  description: 'Links that a variable decides without the filter `url`',
})

export const SavedTemplate = Type.Object(
  { ...Template.properties, warnings },
  { title: 'SavedTemplate' },
)

export const TemplateParams = Type.Object({ template_id: Type.String() })
export const VersionParams = Type.Object({
  template_id: Type.String(),
  version: Type.Integer({ minimum: 1, maximum: 2_000_000_000 }),
})

export const TemplateQuery = Type.Object({
  ...PageQuery,
  category: Type.Optional(OneOf(CATEGORIES)),
  active_only: Type.Optional(
    Type.Boolean({ default: true, description: 'false lists deleted templates too' }),
  ),
  q: Type.Optional(Type.String({ description: 'A part of the name or the description' })),
})

const organization_id = Type.Optional(
  Type.String({ description: 'Required for platform callers; a tenant always has its own' }),
)

export const NewTemplate = Body({ ...about, ...texts, organization_id })

export const TemplateChange = Body(Type.Partial(Type.Object({ ...about, ...texts })).properties)

export const TemplateDeleted = Type.Object({ template_id: Type.String() })

export const DuplicateBody = Body({ new_name: about.name })

const Variables = Type.Object(
  {},
  {
    additionalProperties: true,
    description: 'At most 256 KB as JSON',
    examples: [{ name: 'Jane', number: 4711 }],
  },
)
const options = {
  format: Type.Optional(OneOf(FORMATS, { default: 'both' })),
  strict: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'A missing variable is 400 `Missing variable: …`; otherwise it is empty',
    }),
  ),
}

export const RenderBody = Body({ variables: Variables, ...options })

export const RenderManyBody = Body({
  sets: Type.Array(Variables, { minItems: 1, maxItems: MAX_SETS, examples: [[{ name: 'Jane' }]] }),
  ...options,
})

export const Rendered = Type.Object(
  {
    subject: Type.String(),
    html: Type.Optional(Type.String()),
    plaintext: Type.Optional(Type.String()),
  },
  { title: 'RenderedTemplate' },
)

export const RenderedMany = Type.Object({ results: Type.Array(Rendered) })

export const PreviewBody = Body({
  ...texts,
  variables: Type.Optional(Variables),
  strict: options.strict,
})

export const Preview = Type.Object({ ...Rendered.properties, warnings })

const version = {
  id: Type.String(),
  version: Type.Integer(),
  content_hash: Type.String(),
  author: Type.String({ examples: ['user:ada@acme.example'] }),
  created_at: Timestamp,
}

export const TemplateVersion = Type.Object(version, { title: 'TemplateVersion' })

export const WholeVersion = Type.Object(
  {
    ...version,
    subject_template: Type.String(),
    html_content: Type.String(),
    compiled_html: Nullable(Type.String()),
    plaintext_content: Type.String(),
    variables: Type.Array(Type.String()),
  },
  { title: 'WholeTemplateVersion' },
)

export const DiffQuery = Type.Object({
  against: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 2_000_000_000, description: 'Absent: the version before' }),
  ),
})

const Lines = Type.Array(
  Type.Object({ kind: OneOf(['same', 'removed', 'added']), text: Type.String() }),
)

export const TemplateDiff = Type.Object({
  version: Type.Integer(),
  against: Type.Integer(),
  subject_template: Lines,
  html_content: Lines,
  plaintext_content: Lines,
})

export const TemplateStats = Type.Object({
  template_id: Type.String(),
  total_renders: Type.Integer(),
  created_at: Timestamp,
  daily_renders: Type.Array(
    Type.Object({ date: Type.String({ examples: ['2026-11-17'] }), count: Type.Integer() }),
    { description: 'The last 30 days; days without a render are left out' },
  ),
})

export const StarterTemplate = Type.Object(
  {
    id: Type.String({ examples: ['welcome'] }),
    name: Type.String(),
    description: Type.String(),
    category: OneOf(CATEGORIES),
    subject: Type.String(),
    html: Type.String({ description: 'MJML' }),
    variables: Type.Array(Type.String()),
  },
  { title: 'StarterTemplate' },
)
export const Library = Type.Object({ templates: Type.Array(StarterTemplate) })

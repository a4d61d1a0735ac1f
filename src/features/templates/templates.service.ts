import { actorOf } from '../../access/actor.ts'
import { type Caller, isPlatform } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import type { Tx } from '../../database/database.ts'
import { NoDataProvided } from '../../errors.ts'
import { type Page, paginated } from '../../http/paging.ts'
import { sha256 } from '../../lib/tokens.ts'
import { ulid } from '../../lib/ulid.ts'
import { taskIn } from '../../lib/worker-pool.ts'
import { OrganizationNotFound } from '../organizations/organizations.errors.ts'
import type { RenderOptions } from './engine/liquid.ts'
import { withoutProblem } from './engine/template-problem.ts'
import type { RenderCounts } from './render-counts.ts'
import type { Renderer } from './renderer.ts'
import {
  OrganizationRequired,
  TemplateNotFound,
  TemplatesFull,
  VersionNotFound,
} from './templates.errors.ts'
import * as templates from './templates.repository.ts'

const COMPILE_LIMIT_MS = 5000
const MEGABYTE = 1024 * 1024

const compileTask = taskIn<typeof import('./engine/compile.task.ts')>(
  'features/templates/engine/compile',
)
const compareTask = taskIn<typeof import('./compare-versions.task.ts')>(
  'features/templates/compare-versions',
)

/** The part of a template that is rendered, as its author writes it. */
interface Texts {
  subject_template: string
  html_content: string
  plaintext_content?: string | null
}

interface NewTemplate extends Texts {
  organization_id?: string
  name: string
  description?: string | null
  category?: templates.Category
  variables?: string[]
  metadata?: object
}

interface Needs extends Pick<Core, 'change' | 'config' | 'db' | 'now' | 'workers'> {
  renderer: Renderer
  counts: () => RenderCounts
}

export type TemplateService = ReturnType<typeof templateService>

export function templateService(needs: Needs) {
  const { change, config, db, now, renderer, counts, workers } = needs

  /** A tenant acts on its own organization; a platform caller must name one. */
  function ownerOf(caller: Caller, sent: string | undefined): string {
    if (!isPlatform(caller)) return caller.organizationId ?? ''
    if (sent === undefined) throw new OrganizationRequired()
    return sent
  }

  async function get({ scope }: Pick<Caller, 'scope'>, id: string) {
    const template = await templates.find(db, scope, id)
    if (!template) throw new TemplateNotFound()
    return template
  }

  async function compiled(owner: string, texts: Texts) {
    const written = { ...texts, plaintext_content: texts.plaintext_content ?? null }
    const limits = { owner, timeLimitMs: COMPILE_LIMIT_MS }
    return renderer.answering(async () =>
      withoutProblem(await workers.run(compileTask, written, limits)),
    )
  }

  async function checkQuota(tx: Tx, organizationId: string, more: number) {
    if (!(await templates.organizationForUpdate(tx, organizationId))) {
      throw new OrganizationNotFound()
    }
    const limit_mb = config.TEMPLATES_QUOTA_MB
    if ((await templates.storedBytes(tx, organizationId)) + more > limit_mb * MEGABYTE) {
      throw new TemplatesFull({ limit_mb })
    }
  }

  function saveVersion(tx: Tx, caller: Caller, row: templates.TemplateRow) {
    const { subject_template, html_content, compiled_html, plaintext_content } = row
    const texts = { subject_template, html_content, compiled_html, plaintext_content }
    return templates.insertVersion(tx, {
      ...texts,
      id: ulid(),
      template_id: row.id,
      version: row.version,
      variables: row.variables,
      content_hash: row.content_hash,
      size_bytes: sizeOf(texts),
      author: actorOf(caller),
      created_at: now().toISOString(),
    })
  }

  async function create(caller: Caller, sent: NewTemplate) {
    const { variables = [], metadata = {}, ...given } = sent
    const organization_id = ownerOf(caller, sent.organization_id)
    const { warnings, ...made } = await compiled(organization_id, sent)
    const texts = {
      subject_template: sent.subject_template,
      html_content: sent.html_content,
      ...made,
    }
    const at = now().toISOString()
    const template = await change(caller, async (tx) => {
      await checkQuota(tx, organization_id, sizeOf(texts))
      const row = await templates.insert(tx, {
        ...texts,
        id: ulid(),
        organization_id,
        name: given.name,
        description: given.description ?? null,
        category: given.category ?? 'general',
        variables,
        metadata,
        content_hash: hashOf(texts),
        created_at: at,
        updated_at: at,
      })
      await saveVersion(tx, caller, row)
      return row
    })
    return { ...template, warnings }
  }

  type Change = Parameters<typeof templates.update>[2] & Sized
  type Sent = Partial<Omit<NewTemplate, 'organization_id'>>

  /** Every update is a new version. One that another update overtakes is made again on its result. */
  async function update(caller: Caller, id: string, sent: Sent) {
    if (Object.keys(sent).length === 0) throw new NoDataProvided()
    for (;;) {
      const before = await get(caller, id)
      const { warnings, ...row } = await merged(before, sent)
      try {
        return { ...(await store(caller, before, row, before.version)), warnings }
      } catch (error) {
        if (!(error instanceof Overtaken)) throw error
      }
    }
  }

  async function merged(before: templates.TemplateRow, sent: Sent) {
    const texts = {
      subject_template: sent.subject_template ?? before.subject_template,
      html_content: sent.html_content ?? before.html_content,
    }
    const isTextKept = sent.html_content === undefined && sent.plaintext_content === undefined
    const made = await compiled(before.organization_id, {
      ...texts,
      plaintext_content: isTextKept ? before.plaintext_content : (sent.plaintext_content ?? null),
    })
    const { name, description, category, variables, metadata } = sent
    return {
      ...texts,
      ...made,
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description }),
      ...(category !== undefined && { category }),
      ...(variables !== undefined && { variables }),
      ...(metadata !== undefined && { metadata }),
    }
  }

  /** Throws `Overtaken` if the change was made for another version than the newest one. */
  function store(
    caller: Caller,
    { id, organization_id }: templates.TemplateRow,
    row: Change,
    madeFor?: number,
  ) {
    return change(caller, async (tx) => {
      await checkQuota(tx, organization_id, sizeOf(row))
      const current = await templates.findForUpdate(tx, caller.scope, id)
      if (!current) throw new TemplateNotFound()
      if (madeFor !== undefined && current.version !== madeFor) throw new Overtaken()
      const stored = await templates.update(tx, id, {
        ...row,
        content_hash: hashOf(row),
        version: current.version + 1,
        updated_at: now().toISOString(),
      })
      await saveVersion(tx, caller, stored)
      return stored
    })
  }

  async function version(caller: Pick<Caller, 'scope'>, id: string, number: number) {
    const template = await get(caller, id)
    const found = await templates.findVersion(db, id, number)
    if (!found) throw new VersionNotFound()
    return { template, found }
  }

  return {
    get,
    create,
    update,

    async list({ scope }: Pick<Caller, 'scope'>, filter: templates.TemplateFilter, page: Page) {
      const { items, total } = await templates.list(db, scope, filter, page)
      return paginated(items, total, page)
    },

    async remove(caller: Caller, id: string) {
      await change(caller, async (tx) => {
        if (!(await templates.findForUpdate(tx, caller.scope, id))) throw new TemplateNotFound()
        await templates.remove(tx, id, now())
      })
      return { template_id: id }
    },

    async duplicate(caller: Caller, id: string, name: string) {
      const { organization_id, description, category, variables, ...texts } = await get(caller, id)
      return create(caller, { ...texts, organization_id, description, category, variables, name })
    },

    async versions(caller: Pick<Caller, 'scope'>, id: string) {
      await get(caller, id)
      return templates.versions(db, id)
    },

    version: async (caller: Pick<Caller, 'scope'>, id: string, number: number) =>
      (await version(caller, id, number)).found,

    /** Makes the texts of an old version the newest one. */
    async restore(caller: Caller, id: string, number: number) {
      const { template, found } = await version(caller, id, number)
      const { subject_template, html_content, compiled_html, plaintext_content } = found
      return store(caller, template, {
        subject_template,
        html_content,
        compiled_html,
        plaintext_content,
        variables: found.variables,
      })
    },

    /** The differences to another version; to the one before, unless the caller names one. */
    async compare(
      caller: Pick<Caller, 'scope'>,
      id: string,
      number: number,
      against: number = number - 1,
    ) {
      const { template, found } = await version(caller, id, number)
      const other = await templates.findVersion(db, id, against)
      if (!other) throw new VersionNotFound()
      const limits = { owner: template.organization_id, timeLimitMs: COMPILE_LIMIT_MS }
      const input = { before: other, after: found }
      return { version: number, against, ...(await workers.run(compareTask, input, limits)) }
    },

    async render(
      caller: Pick<Caller, 'scope'>,
      id: string,
      variables: object,
      options: RenderOptions,
    ) {
      return renderer.one(await get(caller, id), variables, options)
    },

    async renderMany(
      caller: Pick<Caller, 'scope'>,
      id: string,
      sets: readonly object[],
      options: RenderOptions,
    ) {
      return renderer.many(await get(caller, id), sets, options)
    },

    /** Renders texts that are not stored. */
    async preview(caller: Caller, texts: Texts, variables: object, strict: boolean) {
      const owner = caller.organizationId ?? 'platform'
      const { warnings, ...made } = await compiled(owner, texts)
      const source = { ...texts, ...made }
      const template = {
        ...source,
        id: '',
        organization_id: owner,
        version: 0,
        content_hash: hashOf(source),
      }
      const rendered = await renderer.preview(template, variables, { format: 'both', strict })
      return { ...rendered, warnings }
    },

    async stats(caller: Pick<Caller, 'scope'>, id: string) {
      await get(caller, id)
      await counts().settled()
      const { render_count, created_at } = await get(caller, id)
      return {
        template_id: id,
        total_renders: render_count,
        created_at,
        daily_renders: await templates.rendersByDay(db, id, now()),
      }
    },
  }
}

/** Another update has stored a version in the meantime. */
class Overtaken extends Error {}

interface Sized {
  subject_template: string
  html_content: string
  compiled_html: string | null
  plaintext_content: string
}

const textsOf = ({ subject_template, html_content, compiled_html, plaintext_content }: Sized) => [
  subject_template,
  html_content,
  compiled_html,
  plaintext_content,
]

const sizeOf = (texts: Sized): number =>
  textsOf(texts).reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), 0)

const hashOf = (texts: Sized): string => sha256(JSON.stringify(textsOf(texts)))

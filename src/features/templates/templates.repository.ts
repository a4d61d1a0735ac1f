import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'
import { inOrder, pageAndTotal, withIds } from '../../database/paging.ts'
import { inScope, type Scope } from '../../database/scope.ts'
import { contains } from '../../database/search.ts'
import type { Tables } from '../../database/tables.ts'
import type { Page } from '../../http/paging.ts'

/** Without the texts, which would make a page of many templates too large. */
const summary = [
  'id',
  'organization_id',
  'name',
  'description',
  'category',
  'subject_template',
  'variables',
  'content_hash',
  'version',
  'render_count',
  'active',
  'created_at',
  'updated_at',
] as const
const columns = [...summary, 'html_content', 'compiled_html', 'plaintext_content'] as const

/** Versions of one template that are kept; the oldest go. */
const MAX_VERSIONS = 100
const DAYS_OF_RENDERS = 30

export type TemplateRow = Omit<Selectable<Tables['templates']>, 'metadata' | 'variables'> & {
  variables: string[]
}
type TemplateSummary = Omit<TemplateRow, 'html_content' | 'compiled_html' | 'plaintext_content'>
export type Category = TemplateRow['category']

export interface TemplateFilter {
  category?: Category
  active_only?: boolean
  q?: string
}

export async function list(db: Db, scope: Scope, filter: TemplateFilter, page: Page) {
  const { category, active_only = true, q } = filter
  let query = db.selectFrom('templates').where(inScope('templates', scope))
  if (active_only) query = query.where('active', '=', true)
  if (category !== undefined) query = query.where('category', '=', category)
  if (q) query = query.where(contains(['name', 'description'], q))
  const { ids, total } = await pageAndTotal(
    db,
    query,
    'templates',
    { by: 'updated_at', direction: 'desc' },
    page,
  )
  const rows = await db
    .selectFrom('templates')
    .select(summary)
    .where(withIds('templates', ids))
    .execute()
  return { items: inOrder(ids, rows as TemplateSummary[]), total }
}

export const find = (db: Db, scope: Scope, id: string): Promise<TemplateRow | undefined> =>
  db
    .selectFrom('templates')
    .select(columns)
    .where('id', '=', id)
    .where('active', '=', true)
    .where(inScope('templates', scope))
    .executeTakeFirst() as Promise<TemplateRow | undefined>

/** Locks the template, so that versions follow each other. */
export const findForUpdate = (tx: Tx, scope: Scope, id: string): Promise<TemplateRow | undefined> =>
  tx
    .selectFrom('templates')
    .select(columns)
    .where('id', '=', id)
    .where('active', '=', true)
    .where(inScope('templates', scope))
    .forUpdate()
    .executeTakeFirst() as Promise<TemplateRow | undefined>

export const insert = (tx: Tx, row: Insertable<Tables['templates']>): Promise<TemplateRow> =>
  tx
    .insertInto('templates')
    .values(row)
    .returning(columns)
    .executeTakeFirstOrThrow() as Promise<TemplateRow>

export const update = (
  tx: Tx,
  id: string,
  row: Updateable<Tables['templates']>,
): Promise<TemplateRow> =>
  tx
    .updateTable('templates')
    .set(row)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow() as Promise<TemplateRow>

export async function insertVersion(tx: Tx, row: Insertable<Tables['template_versions']>) {
  await tx.insertInto('template_versions').values(row).execute()
  await tx
    .deleteFrom('template_versions')
    .where('template_id', '=', row.template_id)
    .where('version', '<=', row.version - MAX_VERSIONS)
    .execute()
}

/** Locks the organization, so that two requests cannot exceed its quota together. */
export const organizationForUpdate = (tx: Tx, id: string) =>
  tx.selectFrom('organizations').select('id').where('id', '=', id).forUpdate().executeTakeFirst()

export async function storedBytes(tx: Tx, organizationId: string): Promise<number> {
  const { bytes } = await tx
    .selectFrom('template_versions')
    .innerJoin('templates', 'templates.id', 'template_versions.template_id')
    .select(sql<number>`coalesce(sum(size_bytes), 0)`.as('bytes'))
    .where('templates.organization_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  return Number(bytes)
}

/** The name and the figures remain; the texts and the versions go. */
export async function remove(tx: Tx, id: string, now: Date) {
  const texts = { subject_template: '', html_content: '', compiled_html: null }
  await tx.deleteFrom('template_versions').where('template_id', '=', id).execute()
  await tx
    .updateTable('templates')
    .set({ ...texts, plaintext_content: '', active: false, updated_at: now.toISOString() })
    .where('id', '=', id)
    .execute()
}

export const versions = (db: Db, templateId: string) =>
  db
    .selectFrom('template_versions')
    .select(['id', 'version', 'content_hash', 'author', 'created_at'])
    .where('template_id', '=', templateId)
    .orderBy('version', 'desc')
    .execute()

export type VersionRow = NonNullable<Awaited<ReturnType<typeof findVersion>>>

export const findVersion = (db: Db, templateId: string, version: number) =>
  db
    .selectFrom('template_versions')
    .select([
      'id',
      'version',
      'subject_template',
      'html_content',
      'compiled_html',
      'plaintext_content',
      sql<string[]>`variables`.as('variables'),
      'content_hash',
      'author',
      'created_at',
    ])
    .where('template_id', '=', templateId)
    .where('version', '=', version)
    .executeTakeFirst()

export const rendersByDay = (db: Db, templateId: string, now: Date) =>
  db
    .selectFrom('template_renders')
    .select([sql<string>`to_char(day, 'YYYY-MM-DD')`.as('date'), 'count'])
    .where('template_id', '=', templateId)
    .where(sql<boolean>`day > ${now.toISOString()}::date - ${DAYS_OF_RENDERS}::int`)
    .orderBy('day')
    .execute()

/** Adds renders that were counted in memory. Templates that are gone are left out. */
export async function addRenders(tx: Tx, day: string, counts: ReadonlyMap<string, number>) {
  const ids = [...counts.keys()].sort()
  const added = sql`(
    select * from unnest(${ids}::text[], ${ids.map((id) => counts.get(id))}::bigint[])
      as added (id, count))`
  await sql`
    update templates set render_count = render_count + added.count
    from ${added} as added where templates.id = added.id`.execute(tx)
  await sql`
    insert into template_renders (template_id, day, count)
    select added.id, ${day}::date, added.count from ${added} as added
    where exists (select from templates where templates.id = added.id)
    on conflict (template_id, day) do update
      set count = template_renders.count + excluded.count`.execute(tx)
}

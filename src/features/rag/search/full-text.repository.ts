import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { type Filter, filtered } from './filter.ts'
import { anyForm, type Word } from './words.ts'

/**
 * The lexemes of the words, and the whole query as a `tsquery`, in each language that the organization
 * has documents in.
 */
export async function parseQuery(db: Db, organizationId: string, query: string, words: string[]) {
  const { rows } = await sql<{ at: number; texts: string[] }>`
    with languages as materialized (
      select distinct language::regconfig as language from rag_languages
      where organization_id = ${organizationId})
    select word.at::int as at, array_agg(distinct lexeme) as texts
    from unnest(${words}::text[]) with ordinality as word (text, at)
    cross join languages
    cross join lateral unnest(tsvector_to_array(to_tsvector(language, word.text))) as lexeme
    group by word.at
    union all
    select 0, array_agg(distinct websearch_to_tsquery(language, ${query})::text) from languages
    order by 1`.execute(db)
  return {
    words: rows
      .filter(({ at }) => at > 0)
      .map(({ at, texts }) => ({ text: words[at - 1] ?? '', lexemes: texts })),
    whole: (rows.find(({ at }) => at === 0)?.texts ?? [])
      .filter((text) => text !== '')
      .map((text) => `(${text})`)
      .join(' | '),
  }
}

export interface Found {
  id: number
  document_id: string
  rank: number
  /** One digit for each word: 1 if the chunk contains it. */
  matches: string
}

/** Chunks that match a query, at most `limit`; for a frequent word these are arbitrary ones. */
export async function find(
  db: Db,
  filter: Filter,
  query: string,
  words: readonly Word[],
  limit: number,
): Promise<Found[]> {
  const matches = words.map(
    (word) => sql`case when tsv @@ ${anyForm(word)}::tsquery then '1' else '0' end`,
  )
  // Appending an empty vector decompresses `tsv` once instead of once for each word.
  const { rows } = await sql<Found>`
    with found as materialized (
      select chunks.id, chunks.document_id, chunks.tsv || ''::tsvector as tsv from rag_chunks chunks
      ${filtered('chunks', filter)} and chunks.tsv @@ ${query}::tsquery
      limit ${limit})
    select id, document_id, ts_rank(tsv, ${query}::tsquery)::float8 as rank,
      ${matches.length > 0 ? sql.join(matches, sql` || `) : sql`''`} as matches
    from found`.execute(db)
  return rows
}

/** The share of chunks that contain a frequent word, from the statistics of PostgreSQL. */
export async function frequencies(db: Db): Promise<Map<string, number>> {
  const { rows } = await sql<{ lexeme: string; often: number }>`
    select lexeme, often::float8 as often from pg_stats,
      unnest(most_common_elems::text::text[], most_common_elem_freqs) as common (lexeme, often)
    where schemaname = 'public' and tablename = 'rag_chunks' and attname = 'tsv'
      and lexeme is not null`.execute(db)
  return new Map(rows.map(({ lexeme, often }) => [lexeme, often]))
}

import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { type Filter, filtered } from './filter.ts'
import { anyForm, type Word } from './words.ts'

/** The languages that an organization, or anybody, has text in. */
export async function languagesOf(db: Db, organizationId: string | null): Promise<string[]> {
  const { rows } = await sql<{ language: string }>`
    select distinct language from rag_languages
    where ${organizationId}::text is null or organization_id = ${organizationId}
    order by language`.execute(db)
  return rows.map(({ language }) => language)
}

/** How each language writes the words, and the whole question as each of them understands it. */
export async function understood(db: Db, languages: string[], query: string, words: string[]) {
  const [forms, wholes] = await Promise.all([
    sql<{ at: number; lexemes: string[] }>`
      select word.at::int as at, array_agg(distinct lexeme) as lexemes
      from unnest(${words}::text[]) with ordinality as word (text, at)
      cross join unnest(${languages}::text[]) as language
      cross join lateral unnest(tsvector_to_array(to_tsvector(language::regconfig, word.text)))
        as lexeme
      group by word.at order by word.at`.execute(db),
    sql<{ whole: string }>`
      select distinct websearch_to_tsquery(language::regconfig, ${query})::text as whole
      from unnest(${languages}::text[]) as language`.execute(db),
  ])
  return {
    words: forms.rows.map(({ at, lexemes }) => ({ text: words[at - 1] ?? '', lexemes })),
    whole: wholes.rows
      .map(({ whole }) => whole)
      .filter((whole) => whole !== '')
      .map((whole) => `(${whole})`)
      .join(' | '),
  }
}

export interface Found {
  id: number
  document_id: string
  rank: number
  /** A 1 for each word that is there, else a 0. */
  matches: string
}

/** Pieces that a query finds, not more than some: whoever asks for a frequent word gets any of them. */
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
  const { rows } = await sql<Found>`
    with found as materialized (
      select chunks.id, chunks.document_id, chunks.tsv from rag_chunks chunks
      ${filtered('chunks', filter)} and chunks.tsv @@ ${query}::tsquery
      limit ${limit})
    select id, document_id, ts_rank(tsv, ${query}::tsquery)::float8 as rank,
      ${matches.length > 0 ? sql.join(matches, sql` || `) : sql`''`} as matches
    from found`.execute(db)
  return rows
}

/** How large a part of all pieces has a word, for the frequent ones; as PostgreSQL sampled it. */
export async function frequencies(db: Db): Promise<Map<string, number>> {
  const { rows } = await sql<{ lexeme: string; often: number }>`
    select lexeme, often::float8 as often from pg_stats,
      unnest(most_common_elems::text::text[], most_common_elem_freqs) as common (lexeme, often)
    where schemaname = 'public' and tablename = 'rag_chunks' and attname = 'tsv'
      and lexeme is not null`.execute(db)
  return new Map(rows.map(({ lexeme, often }) => [lexeme, often]))
}

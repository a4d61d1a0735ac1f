import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { type Filter, filtered } from './filter.ts'

export interface Near {
  id: number
  document_id: string
  vector: Buffer
}

/** The chunks with the smallest Hamming distance in the bits of the mask. */
export async function nearest(
  db: Db,
  filter: Filter,
  model: string,
  question: { bits: string; mask: string },
  limit: number,
): Promise<Near[]> {
  const { rows } = await sql<Near>`
    with near as materialized (
      select signatures.chunk_id from rag_signatures signatures
      ${filtered('signatures', filter)} and signatures.model = ${model}
      order by bit_count((signatures.bits # ${`x${question.bits}`}::text::bit(512))
        & ${`x${question.mask}`}::text::bit(512))
      limit ${limit})
    select chunks.id, chunks.document_id, chunks.vector
    from near join rag_chunks chunks on chunks.id = near.chunk_id`.execute(db)
  return rows
}

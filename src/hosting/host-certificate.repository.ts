import { type SqlBool, sql } from 'kysely'
import type { Db } from '../database/database.ts'

/** The certificates for the name of the mail host, the one that the mail servers present first. */
export const certificatesOfHost = (db: Db, host: string) => {
  const wildcard = `*.${host.slice(host.indexOf('.') + 1)}`
  return db
    .selectFrom('certificates')
    .select(['path', 'valid_from', 'valid_until', 'self_signed', 'key_hash', 'next_key_hash'])
    .where('status', '=', 'active')
    .where(sql<SqlBool>`names && array[${host}, ${wildcard}]::text[]`)
    .orderBy(sql`certificates.domain = ${host} desc`)
    .orderBy(sql`self_signed asc nulls last`)
    .orderBy(sql`valid_until desc nulls last`)
    .orderBy('id')
    .execute()
}

/** The fault that makes senders reject the certificate of the mail host; undefined if it is valid. */
export async function certificateProblem(
  db: Db,
  host: string,
  now: Date,
): Promise<string | undefined> {
  const all = await certificatesOfHost(db, host)
  if (all.length === 0) return `there is no certificate for ${host}`
  const time = now.getTime()
  const current = all.filter(
    ({ valid_from, valid_until }) =>
      valid_until !== null &&
      new Date(valid_until).getTime() > time &&
      (valid_from === null || new Date(valid_from).getTime() <= time),
  )
  if (current.length === 0) return `the certificate for ${host} is not valid now`
  if (current.every(({ self_signed }) => self_signed !== false)) {
    return `the certificate for ${host} is signed by itself and by no CA`
  }
  return undefined
}

/**
 * Whether this is the failure of a query that nobody waits for. postgres.js asks every new connection
 * for the array types and hears of no error; a connection that ends meanwhile, because the server is
 * restarted or we stop, would take the whole process along. The next query opens another connection.
 */
export const isTypeQuery = (error: unknown): boolean => {
  const { query } = (error ?? {}) as { query?: unknown }
  return typeof query === 'string' && query.includes('select b.oid, b.typarray')
}

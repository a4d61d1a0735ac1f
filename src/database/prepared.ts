import type { CompiledQuery } from 'kysely'
import type { Db } from './database.ts'

/**
 * A query of a fixed shape that is built and compiled once, at its first use; later uses only bind
 * other values. Building a query costs about as much CPU time as running it.
 */
export function prepared<Values extends Record<string, unknown>, Row>(
  build: (db: Db, values: Values) => { compile(db: Db): CompiledQuery<Row> },
) {
  let compiled: CompiledQuery<Row> | undefined
  return async (db: Db, values: Values): Promise<Row[]> => {
    compiled ??= build(db, placeholders as Values).compile(db)
    const parameters = compiled.parameters.map((parameter) =>
      parameter instanceof Placeholder ? values[parameter.name] : parameter,
    )
    const { rows } = await db.executeQuery<Row>({ ...compiled, parameters })
    return rows
  }
}

class Placeholder {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/** Returns a placeholder for every property, so that the build function marks where values go. */
const placeholders = new Proxy({}, { get: (_target, name) => new Placeholder(String(name)) })

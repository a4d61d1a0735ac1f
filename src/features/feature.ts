import type { FastifyPluginAsync } from 'fastify'
import type { Edition } from '../config.ts'

/** A part of the API: where it lives, its routes, and what clients may count on because of it. */
export interface Feature {
  prefix: string
  routes: FastifyPluginAsync
  /** Strings of the capability manifest. */
  capabilities?: readonly string[]
  /** Offered in this edition only; absent, also from the manifest, in the others. */
  edition?: Edition
}

import type { FastifyPluginAsync } from 'fastify'
import type { Edition } from '../config/index.ts'
import type { StaticFiles } from '../http/static-files.ts'
import type { Chore } from '../jobs/chores.ts'
import type { Job } from '../jobs/jobs.ts'

/** A part of the API, built by the `index.ts` of its folder. Building it starts nothing. */
export interface Feature {
  prefix: string
  routes: FastifyPluginAsync
  /** Answered before the hooks of the routes. */
  files?: StaticFiles
  /** Strings of the capability manifest. */
  capabilities?: readonly string[]
  /** Routes and capabilities exist in this edition only; jobs and chores run in every edition. */
  edition?: Edition
  /** The routes read much: their statements have the budget of DATABASE_LONG_TIMEOUT. */
  isPatient?: true
  /** Run by the service `worker`. */
  jobs?: readonly Job[]
  chores?: readonly Chore[]
  /** Called when requests, jobs and chores have ended. */
  close?(): void | Promise<void>
}

/** Background work of a feature that a service other than `worker` runs. */
export interface ServiceWork {
  jobs?: readonly Job[]
  chores?: readonly Chore[]
}

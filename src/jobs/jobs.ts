import { sql } from 'kysely'
import type { Core } from '../core.ts'
import { patiently } from '../database/budget.ts'
import type { Db } from '../database/database.ts'

const LOOK_MS = 30_000

/** Repeated work that takes no input and may safely run twice. */
export interface Job {
  name: string
  everySeconds: number
  run(core: Core): Promise<unknown>
}

/**
 * Runs jobs when they are due. A process claims a job by moving its timestamp, so only one of several
 * processes runs it. A killed process leaves its work to the next run.
 */
export function runJobs(core: Core, jobs: readonly Job[]) {
  let running: Promise<void> = Promise.resolve()
  const look = async () => {
    for (const job of jobs) {
      try {
        if (await takeJob(core.db, job)) await patiently(() => job.run(core))
      } catch (error) {
        core.log.error({ err: error, job: job.name }, 'job failed')
      }
    }
  }
  const timer = setInterval(() => {
    running = running.then(look)
  }, LOOK_MS)
  timer.unref()
  return {
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}

export async function takeJob(db: Db, { name, everySeconds }: Job): Promise<boolean> {
  const since = sql`now() - make_interval(secs => ${everySeconds})`
  // The subquery avoids the conflict path, which would lock the row and so cause a write.
  const { rows } = await sql`
    insert into job_runs (name, begun_at)
    select ${name}, now()
    where not exists (select from job_runs where name = ${name} and begun_at > ${since})
    on conflict (name) do update set begun_at = now() where job_runs.begun_at <= ${since}
    returning name`.execute(db)
  return rows.length > 0
}

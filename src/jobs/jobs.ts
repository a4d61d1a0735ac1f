import { sql } from 'kysely'
import type { Core } from '../core.ts'
import { patiently } from '../database/budget.ts'
import type { Db } from '../database/database.ts'
import { limiter } from '../lib/mutex.ts'

const LOOK_MS = 30_000
// Fewer than the connections for long statements.
const AT_ONCE = 2

/** Repeated work that takes no input and may safely run twice. */
export interface Job {
  name: string
  everySeconds: number
  run(core: Core): Promise<unknown>
}

/**
 * Runs jobs when they are due, some at once: one that takes long does not delay the others. A process
 * claims a job by moving its timestamp, so only one of several processes runs it. A killed process leaves
 * its work to the next run.
 */
export function runJobs(core: Core, jobs: readonly Job[]) {
  const running = new Map<string, Promise<void>>()
  const inTurn = limiter(AT_ONCE)
  let isStopping = false

  async function runDue(job: Job): Promise<void> {
    try {
      if (!isStopping && (await takeJob(core.db, job))) await patiently(() => job.run(core))
    } catch (error) {
      core.log.error({ err: error, job: job.name }, 'job failed')
    }
  }
  const timer = setInterval(() => {
    for (const job of jobs) {
      if (running.has(job.name)) continue
      const run = inTurn(() => runDue(job)).finally(() => running.delete(job.name))
      running.set(job.name, run)
    }
  }, LOOK_MS)
  timer.unref()
  return {
    async stop() {
      clearInterval(timer)
      isStopping = true
      await Promise.all(running.values())
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

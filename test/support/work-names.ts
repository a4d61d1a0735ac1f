import type { Core } from '../../src/core.ts'
import { useFeatures } from '../../src/daemons/features-of-process.ts'
import { openStorages } from '../../src/features/archive/storage/storage.ts'
import { readBack } from '../../src/features/archive/tasks/read-back.ts'
import { runArchiveJobs } from '../../src/features/archive/tasks/run-jobs.ts'
import { sendCalendarMail } from '../../src/features/caldav/scheduling/send-outbox.ts'
import { WORKING_SERVICES, workOf } from '../../src/features/index.ts'
import { forgetJmap } from '../../src/features/jmap/jmap.jobs.ts'
import { housekeeping } from '../../src/jobs/housekeeping.ts'

/** The names of jobs and chores of all services. */
export async function workNames(core: Core): Promise<string[]> {
  const { signal } = new AbortController()
  const { features, release } = await useFeatures(core)
  const works = await Promise.all(WORKING_SERVICES.map((name) => workOf(name, core, signal)))
  const storages = openStorages(core)
  const ofDaemons = [
    forgetJmap,
    readBack(storages, signal),
    runArchiveJobs(storages, signal),
    sendCalendarMail({ sent: 0, failed: 0 }),
  ]
  storages.close()
  await release()
  const work = [...features, ...works].flatMap(({ jobs = [], chores = [] }) => [...jobs, ...chores])
  return [...housekeeping, ...work, ...ofDaemons].map(({ name }) => name)
}

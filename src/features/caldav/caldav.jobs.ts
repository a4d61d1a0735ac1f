import { sql } from 'kysely'
import type { Job } from '../../jobs/jobs.ts'
import { DAY_MS } from '../../lib/time.ts'
import { forgetDeletions } from './store/objects.repository.ts'

/** Programs that synchronize at least this often read only what changed. */
const REMEMBERED_MS = 90 * DAY_MS

export const forgetOldDeletions: Job = {
  name: 'caldav.forget-deletions',
  everySeconds: 3600,
  async run({ db, now }) {
    const before = new Date(now().getTime() - REMEMBERED_MS)
    while ((await forgetDeletions(db, before)) > 0);
  },
}

/** Removes versions that no legal hold keeps any more. */
export const releaseKeptObjects: Job = {
  name: 'caldav.release-kept-objects',
  everySeconds: 3600,
  async run({ db, now }) {
    await sql`delete from dav_kept_objects
      where not is_held(organization_id, email, ${now().toISOString()}::timestamptz)`.execute(db)
  },
}

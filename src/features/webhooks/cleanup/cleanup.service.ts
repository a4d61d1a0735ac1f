import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { midnightOf } from '../../../lib/dates.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/time.ts'
import { deleteOldMessages } from '../channel/channel.repository.ts'
import { NoCleanupSettings } from './cleanup.errors.ts'
import * as records from './cleanup.repository.ts'
import type { CleanupChange, CleanupConfig } from './cleanup.schemas.ts'

type Needs = Pick<Core, 'change' | 'config' | 'db' | 'now'>

export type CleanupService = ReturnType<typeof cleanupService>

/** Deletes old records. Settings in the database override those of the environment. */
export const cleanupService = ({ change, config, db, now }: Needs) => {
  const fromEnvironment: CleanupConfig = {
    enabled: config.WEBHOOK_CLEANUP_ENABLED,
    cleanup_interval_hours: config.WEBHOOK_CLEANUP_SCHEDULE_HOURS,
    successful_retention_hours: config.WEBHOOK_SUCCESSFUL_RETENTION_HOURS,
    failed_retention_hours: config.WEBHOOK_FAILED_RETENTION_HOURS,
    auto_delete_successful: config.WEBHOOK_AUTO_DELETE_SUCCESSFUL,
    cleanup_batch_size: config.WEBHOOK_CLEANUP_BATCH_SIZE,
  }
  const read = async () => {
    const { settings, ...last } = await records.readCleanup(db)
    return { settings: { ...fromEnvironment, ...(settings as CleanupChange) }, last }
  }
  const before = (hours: number) => new Date(now().getTime() - hours * HOUR_MS)
  /** Attempts and events are deleted with their day. */
  const expiryOf = (settings: CleanupConfig): records.Expiry => ({
    delivered: settings.auto_delete_successful
      ? midnightOf(before(settings.successful_retention_hours))
      : undefined,
    others: midnightOf(before(settings.failed_retention_hours)),
  })

  async function clean(settings: CleanupConfig) {
    const { cleanup_batch_size: batch } = settings
    const expiry = expiryOf(settings)
    const sent = {
      before: expiry.others,
      activityBefore: midnightOf(before(config.ACTIVITY_RETENTION_DAYS * 24)),
    }
    await records.noteBegin(db, now())
    const deleted = {
      deleted_deliveries: await records.deleteDeliveries(db, expiry, batch),
      deleted_events: await records.deleteSentEvents(db, sent, batch),
    }
    const letters = {
      ended: before(settings.failed_retention_hours),
      waiting: new Date(now().getTime() - config.WEBHOOK_DEAD_LETTER_RETENTION_DAYS * DAY_MS),
    }
    await inBatches(batch, () => records.deleteDeadLetters(db, letters, batch))
    await inBatches(batch, () => deleteOldMessages(db, batch))
    await records.noteEnd(db, now(), deleted)
    return deleted
  }

  return {
    config: async () => (await read()).settings,

    async update(caller: Caller, settings: CleanupChange) {
      if (Object.keys(settings).length === 0) throw new NoCleanupSettings()
      await change(caller, (tx) => records.mergeSettings(tx, settings))
      return (await read()).settings
    },

    async stats() {
      const { settings, last } = await read()
      const counts = await records.countDeliveries(db, expiryOf(settings))
      const sum = (numbers: number[]) => numbers.reduce((one, other) => one + other, 0)
      return {
        total_deliveries: sum(counts.map(({ total }) => total)),
        by_status: Object.fromEntries(counts.map(({ status, total }) => [status, total])),
        expired_deliveries: sum(counts.map(({ expired }) => expired)),
        last_cleanup: last,
      }
    },

    /** Runs now, even when the scheduled clean-up is disabled. */
    run: async () => clean((await read()).settings),

    /** Called every hour by a job; a minute early counts as due. */
    async runIfDue() {
      const { settings, last } = await read()
      const since = now().getTime() - Date.parse(last.begun_at ?? '')
      const isEarly = since < settings.cleanup_interval_hours * HOUR_MS - MINUTE_MS
      if (settings.enabled && !isEarly) await clean(settings)
    },
  }
}

async function inBatches(batch: number, work: () => Promise<number>): Promise<number> {
  let total = 0
  for (;;) {
    const done = await work()
    total += done
    if (done < batch) return total
  }
}

import type { Core } from '../../../core.ts'
import * as blocks from './overview.repository.ts'

export type OverviewService = ReturnType<typeof overviewService>

export const overviewService = ({ db, now, log }: Pick<Core, 'db' | 'now' | 'log'>) => ({
  /** What cannot be computed is null and named: the rest of the page is still worth reading. */
  async get() {
    const time = now()
    const [
      organizations,
      domains,
      mailboxes,
      storage,
      certificates,
      webhooks,
      security,
      recent_actions,
    ] = await Promise.all([
      orNull(blocks.organizations(db, time)),
      orNull(blocks.domains(db, time)),
      orNull(blocks.mailboxes(db, time)),
      orNull(blocks.storage(db)),
      orNull(blocks.certificates(db, time)),
      orNull(blocks.webhooks(db)),
      orNull(blocks.security(db, time)),
      orNull(blocks.recentActions(db)),
    ])
    const page = {
      services: null,
      queue: null,
      organizations,
      domains,
      mailboxes,
      storage,
      certificates,
      quarantine: null,
      webhooks,
      migrations: null,
      security,
      volume_24h: null,
      recent_actions,
    }
    const degraded = Object.entries(page).flatMap(([name, block]) => (block === null ? [name] : []))
    return { ...page, degraded }

    async function orNull<Block>(block: Promise<Block>): Promise<Block | null> {
      try {
        return await block
      } catch (error) {
        log.warn({ err: error }, 'a block of the overview failed')
        return null
      }
    }
  },
})

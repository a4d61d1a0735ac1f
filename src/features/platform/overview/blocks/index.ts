import { certificates } from './certificates.ts'
import { migrations } from './migrations.ts'
import { queue } from './queue.ts'
import { recentActions } from './recent-actions.ts'
import { security } from './security.ts'
import { services } from './services.ts'
import { storage } from './storage.ts'
import { domains, mailboxes, organizations } from './tenants.ts'
import { volume } from './volume.ts'
import { quarantine, webhooks } from './waiting.ts'

/** In the order of the page, by the names that `degraded` uses. */
export const blocks = {
  services,
  queue,
  organizations,
  domains,
  mailboxes,
  storage,
  certificates,
  quarantine,
  webhooks,
  migrations,
  security,
  volume_24h: volume,
  recent_actions: recentActions,
} as const

export type Blocks = typeof blocks
export type BlockName = keyof Blocks
export type BlockValue<Name extends BlockName> = Awaited<ReturnType<Blocks[Name]>>

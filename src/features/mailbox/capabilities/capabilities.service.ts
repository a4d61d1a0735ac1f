import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { isAlive } from '../../../hosting/offered-services.repository.ts'
import { reachable } from '../../../mail/reachable.ts'
import { holderOf } from '../holder.ts'
import type { ScriptStore } from '../script-store/script-store.ts'

interface Needs extends Pick<Core, 'config' | 'db' | 'mailServers' | 'now'> {
  scripts: Pick<ScriptStore, 'isAvailable'>
}

export type MailboxCapabilityService = ReturnType<typeof mailboxCapabilityService>

export function mailboxCapabilityService({ config, db, mailServers, now, scripts }: Needs) {
  const isReachable = reachable(config.SIEVE_PROBE_TTL, now)

  return {
    async get(caller: Caller) {
      const { IMAP_HOST, IMAP_PORT, MAIL_REINJECT_HOST, MAIL_SERVICE_PORT } = mailServers.current()
      // Blocked senders have no capability string of their own; these three imply them.
      const [filters, jmap, imap, smtp] = await Promise.all([
        scripts.isAvailable(),
        isAlive(db, 'jmap'),
        isReachable(IMAP_HOST, IMAP_PORT),
        isReachable(MAIL_REINJECT_HOST, MAIL_SERVICE_PORT),
      ])
      const mail = jmap && imap
      return {
        email_address: holderOf(caller).email,
        capabilities: {
          mail,
          send: mail && smtp,
          // Passwords and second factor are in the database.
          settings: true,
          two_factor: true,
          app_passwords: true,
          grants: true,
          encryption: true,
          rules: filters,
          forwarding: filters,
          vacation: filters,
          ai: false,
        },
      }
    },
  }
}

import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { refusing } from '../../../database/conflicts.ts'
import { invalidField } from '../../../errors.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { ulid } from '../../../lib/ulid.ts'
import { doveadmAt } from '../../../mail/doveadm.ts'
import { hostDoveadmKey } from '../../../mail/mail-hosts.ts'
import {
  LastProxy,
  MailHostInUse,
  MailHostNameTaken,
  MailHostNotFound,
  MailHostSilent,
  NoOtherBackend,
  NotABackend,
} from './mail-hosts.errors.ts'
import * as hosts from './mail-hosts.repository.ts'

type Needs = Pick<Core, 'change' | 'db' | 'log' | 'vault'>
type Fields = Partial<Omit<hosts.HostFields, 'doveadm_url'>> & { doveadm_url?: string }
type NewHost = Fields & Pick<hosts.MailHostRow, 'name' | 'roles' | 'address'>

const STANDARD = {
  imap_port: 993,
  pop3_port: 995,
  sieve_port: 4190,
  lmtp_port: 24,
  sync_port: 24182,
  state: 'active' as const,
}
/** Roles whose hosts run a Dovecot; Postfix of submission looks up logins there. */
const WITH_DOVECOT = ['proxy', 'backend', 'submission']

export type MailHostService = ReturnType<typeof mailHostService>

export function mailHostService({ change, db, log, vault }: Needs) {
  async function get(id: string) {
    const host = await hosts.find(db, id)
    if (!host) throw new MailHostNotFound()
    return host
  }

  /** Starts Dovecot with empty caches: it may have missed changes while it was away. */
  async function refresh(name: string, url: string | null): Promise<void> {
    if (url === null) return
    try {
      await doveadmAt(url, hostDoveadmKey(vault, name)).run([['reload', {}]])
    } catch (error) {
      log.warn({ err: error, name }, 'a mail host does not answer')
      throw new MailHostSilent()
    }
  }

  return {
    get,

    async list(page: Page) {
      const { items, total } = await hosts.list(db, page)
      return paginated(items, total, page)
    },

    /** The first backend has all mailboxes that exist. */
    async create(caller: Caller, { doveadm_url, ...host }: NewHost) {
      const roles = [...new Set(host.roles)]
      if (roles.includes('backend') && roles.length > 1) {
        throw invalidField('roles', 'A backend has no other role')
      }
      if (doveadm_url === undefined && roles.some((role) => WITH_DOVECOT.includes(role))) {
        throw invalidField('doveadm_url', 'A host with this role runs Dovecot')
      }
      const id = ulid()
      const row = { ...STANDARD, ...host, id, roles, doveadm_url: doveadm_url ?? null }
      await refusing({ mail_hosts_name: () => new MailHostNameTaken() }, () =>
        change(caller, async (tx) => {
          await hosts.insert(tx, row)
          const isFirst =
            roles.includes('backend') && (await hosts.countOthers(tx, id, 'backend')) === 0
          if (isFirst) await hosts.placeAll(tx, id)
          return { id }
        }),
      )
      return get(id)
    },

    async update(caller: Caller, id: string, fields: Fields) {
      const before = await get(id)
      const returns = before.state === 'away' && fields.state === 'active'
      if (returns) await refresh(before.name, fields.doveadm_url ?? before.doveadm_url)
      await change(caller, async (tx) => {
        if (!(await hosts.lock(tx, id))) throw new MailHostNotFound()
        await hosts.update(tx, id, fields)
        return { id }
      })
      return get(id)
    },

    async remove(caller: Caller, id: string) {
      return change(caller, async (tx) => {
        const host = await hosts.lock(tx, id)
        if (!host) throw new MailHostNotFound()
        const found = await hosts.find(tx, id)
        if (!found || found.mailboxes > 0 || found.open_moves > 0) throw new MailHostInUse()
        const isLastProxy =
          host.roles.includes('proxy') && (await hosts.countOthers(tx, id, 'proxy')) === 0
        if (isLastProxy && (await hosts.countOthers(tx, id, 'backend')) > 0) throw new LastProxy()
        await hosts.remove(tx, id)
        return { id }
      })
    },

    /** Moves every mailbox to other backends. New mailboxes do not come to the host any more. */
    async drain(caller: Caller, id: string) {
      return change(caller, async (tx) => {
        const host = await hosts.lock(tx, id)
        if (!host) throw new MailHostNotFound()
        if (!host.roles.includes('backend') || host.state === 'away') throw new NotABackend()
        if (!(await hosts.hasOtherBackend(tx, id))) throw new NoOtherBackend()
        await hosts.update(tx, id, { state: 'draining' })
        const moves = await hosts.moveAll(tx, id, caller.id)
        return { host_id: id, state: 'draining' as const, moves }
      })
    },
  }
}

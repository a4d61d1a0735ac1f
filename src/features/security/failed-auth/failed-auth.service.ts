import type { Caller } from '../../../access/caller.ts'
import { OPERATOR_BLOCK } from '../../../access/throttle.repository.ts'
import type { Core } from '../../../core.ts'
import { showBlock } from '../../../hosting/ip-reputation.repository.ts'
import { AddressBlocked } from '../../../hosting/security.events.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { dateRange } from '../../../lib/date-range.ts'
import { throttleKey } from '../../../lib/ip.ts'
import { MINUTE_MS } from '../../../lib/time.ts'
import { InvalidIp, NoBlockOfIp, NoFailuresOfIp } from './failed-auth.errors.ts'
import * as attempts from './failed-auth.repository.ts'
import { networkSent } from './network-sent.ts'
import { summarize } from './summary.repository.ts'

const OWN_IP_WARNING =
  'You are calling from this address: your session stays valid, but new logins from here fail until the block ends or is lifted'

type Query = Omit<attempts.FailedAuthFilter, 'from' | 'to'> & {
  date_from?: string
  date_to?: string
}

export type FailedAuthService = ReturnType<typeof failedAuthService>

export function failedAuthService({
  access,
  change,
  db,
  events,
  now,
}: Pick<Core, 'access' | 'change' | 'db' | 'events' | 'now'>) {
  /** Applies the change in this process before the response; other processes get a notification. */
  const refreshBlock = async (ip: string) => {
    await access.settled()
    await access.blocked.read(ip)
  }

  return {
    async list(
      { date_from, date_to, client_ip, ...filter }: Query,
      sort: attempts.FailedAuthSort,
      page: Page,
    ) {
      const conditions = {
        ...filter,
        ...(client_ip !== undefined && { client_ip: networkSent(client_ip) ?? client_ip.trim() }),
        ...dateRange(date_from, date_to),
      }
      const { items, total } = await attempts.list(db, conditions, sort, page, now())
      return paginated(items, total, page)
    },

    summary: (hours: number) => summarize(db, hours, now()),

    /** Blocks every kind of login from an IP address with failed attempts. */
    async block(caller: Caller, sent: string, minutes: number) {
      const ip = ipOf(sent)
      const until = new Date(now().getTime() + minutes * MINUTE_MS)
      const rows_affected = await change(caller, async (tx) => {
        const count = await attempts.block(tx, ip, until)
        if (count === 0) throw new NoFailuresOfIp()
        await showBlock(tx, ip, { reason: 'Blocked by an operator', until }, now())
        const data = { ip_address: ip, domain: '', rule_type: OPERATOR_BLOCK }
        await events.emit(tx, AddressBlocked, { org_id: null }, data)
        return count
      })
      await refreshBlock(ip)
      return {
        client_ip: ip,
        blocked_until: until.toISOString(),
        rows_affected,
        ...(ip === throttleKey(caller.ip) && { warning: OWN_IP_WARNING }),
      }
    },

    async unblock(caller: Caller, sent: string) {
      const ip = ipOf(sent)
      const rows_affected = await change(caller, async (tx) => {
        const count = await attempts.unblock(tx, ip, now())
        if (count === 0) throw new NoBlockOfIp()
        await showBlock(tx, ip, null, now())
        return count
      })
      await refreshBlock(ip)
      return { client_ip: ip, rows_affected }
    },
  }
}

function ipOf(sent: string): string {
  const ip = networkSent(sent)
  if (ip === undefined) throw new InvalidIp()
  return ip
}

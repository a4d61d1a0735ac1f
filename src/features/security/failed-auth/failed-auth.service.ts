import { isIP } from 'node:net'
import type { Caller } from '../../../access/caller.ts'
import { OPERATOR_BLOCK } from '../../../access/throttle.repository.ts'
import type { Core } from '../../../core.ts'
import { Unprocessable } from '../../../errors.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { plainAddress } from '../../../lib/cidr.ts'
import { parseIso, parseUpperBound } from '../../../lib/dates.ts'
import { showBlock } from '../../reputation/ips.repository.ts'
import { AddressBlocked } from '../security.events.ts'
import { InvalidAddress, NoBlockOfAddress, NoFailuresOfAddress } from './failed-auth.errors.ts'
import * as attempts from './failed-auth.repository.ts'
import { summarize } from './summary.repository.ts'

const OWN_ADDRESS =
  'You are calling from this address: your session stays, but nobody can sign in from here until the block ends or is lifted'

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
  /** The caller has its answer when this process knows; the others are told in the same moment. */
  const known = async (ip: string) => {
    await access.settled()
    await access.blocked.read(ip)
  }

  return {
    async list(
      { date_from, date_to, client_ip, ...filter }: Query,
      sort: attempts.FailedAuthSort,
      page: Page,
    ) {
      const from = date_from === undefined ? undefined : parseIso(date_from)
      const to = date_to === undefined ? undefined : parseUpperBound(date_to)
      if ((date_from !== undefined && !from) || (date_to !== undefined && !to)) {
        throw new Unprocessable('date_from/date_to must be ISO dates or datetimes')
      }
      const wanted = {
        ...filter,
        ...(client_ip !== undefined && { client_ip: plainAddress(client_ip.trim()) }),
        ...(from && { from }),
        ...(to && { to }),
      }
      const { items, total } = await attempts.list(db, wanted, sort, page, now())
      return paginated(items, total, page)
    },

    summary: (hours: number) => summarize(db, hours, now()),

    /** Closes the door to an address that has failed before, for every kind of login. */
    async block(caller: Caller, sent: string, minutes: number) {
      const ip = addressOf(sent)
      const until = new Date(now().getTime() + minutes * 60_000)
      const rows_affected = await change(caller, async (tx) => {
        const count = await attempts.block(tx, ip, until)
        if (count === 0) throw new NoFailuresOfAddress()
        await showBlock(tx, ip, { reason: 'Blocked by an operator', until }, now())
        const data = { ip_address: ip, domain: '', rule_type: OPERATOR_BLOCK }
        await events.emit(tx, AddressBlocked, { org_id: null }, data)
        return count
      })
      await known(ip)
      return {
        client_ip: ip,
        blocked_until: until.toISOString(),
        rows_affected,
        ...(ip === caller.ip && { warning: OWN_ADDRESS }),
      }
    },

    async unblock(caller: Caller, sent: string) {
      const ip = addressOf(sent)
      const rows_affected = await change(caller, async (tx) => {
        const count = await attempts.unblock(tx, ip, now())
        if (count === 0) throw new NoBlockOfAddress()
        await showBlock(tx, ip, null, now())
        return count
      })
      await known(ip)
      return { client_ip: ip, rows_affected }
    },
  }
}

function addressOf(sent: string): string {
  const address = sent.trim()
  // A zone (`fe80::1%eth0`) means something on one machine only.
  if (isIP(address) === 0 || address.includes('%')) throw new InvalidAddress()
  return plainAddress(address)
}

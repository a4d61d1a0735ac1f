import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { invalidField } from '../../../errors.ts'
import { showBlock } from '../../../hosting/ip-reputation.repository.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { networkSent } from '../failed-auth/network-sent.ts'
import { NothingToLift } from './throttles.errors.ts'
import * as throttles from './throttles.repository.ts'

type Needs = Pick<Core, 'access' | 'change' | 'db' | 'now'>

export type ThrottleService = ReturnType<typeof throttleService>

export const throttleService = ({ access, change, db, now }: Needs) => ({
  async list(filter: throttles.ThrottleFilter, page: Page) {
    const { client_ip, username } = filter
    const { items, total } = await throttles.list(
      db,
      {
        ...filter,
        ...(client_ip !== undefined && { client_ip: networkSent(client_ip) ?? client_ip }),
        ...(username !== undefined && { username: username.trim().toLowerCase() }),
      },
      page,
      now(),
    )
    return paginated(items, total, page)
  },

  async lift(caller: Caller, body: { username?: string; client_ip?: string }) {
    const target = targetOf(body)
    const lifted = await change(caller, async (tx) => {
      const count = await throttles.lift(tx, target, now())
      if (count === 0) throw new NothingToLift()
      if ('client_ip' in target) await showBlock(tx, target.client_ip, null, now())
      return count
    })
    // In force in this process before the response; other processes get a notification.
    await access.settled()
    if ('client_ip' in target) await access.blocked.read(target.client_ip)
    return { client_ip: null, username: null, ...target, lifted }
  },
})

/** Exactly one of the two must be given. */
export function targetOf(body: { username?: string; client_ip?: string }): throttles.Target {
  const { username, client_ip } = body
  if ((username === undefined) === (client_ip === undefined)) {
    throw invalidField('username', 'Give either username or client_ip')
  }
  if (username !== undefined) return { username: username.trim().toLowerCase() }
  const network = networkSent(client_ip ?? '')
  if (network === undefined) {
    throw invalidField('client_ip', 'client_ip must be a valid IPv4 or IPv6 address')
  }
  return { client_ip: network }
}

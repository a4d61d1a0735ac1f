import type { ServerResponse } from 'node:http'
import type { Core } from '../../../core.ts'
import type { Feed } from '../../../database/listen.ts'
import type { Login } from '../core/method.ts'
import { ensureAccount, mayUse } from '../index/accounts.repository.ts'
import { changedKinds, stateOf } from '../index/change-log.ts'
import type { ChangeFeed } from './change-feed.ts'
import type { Watchers } from './watchers.ts'

const MIN_PING_SECONDS = 30
const MAX_PING_SECONDS = 900
const MAX_PER_HOLDER = 10

interface Asked {
  types: string
  closeafter: string
  ping: number
}

type Needs = Pick<Core, 'access' | 'db' | 'listen' | 'log'> & {
  feed: ChangeFeed
  watchers: Watchers
}

interface Stream {
  login: Login
  end(): void
}

export type EventSources = Awaited<ReturnType<typeof eventSources>>

/** RFC 8620 section 7.3: streams of state changes. */
export async function eventSources({ access, db, listen, log, feed, watchers }: Needs) {
  const open = new Map<ServerResponse, Stream>()

  const countOf = (holderId: string) =>
    [...open.values()].filter(({ login }) => login.holder.id === holderId).length

  const isStillRight = ({ caller, credential, holder }: Login) =>
    access.mailLogins.isStillRight(holder.id, credential, { service: 'jmap', ip: caller.ip })

  /** A program whose credential is right opens another stream. */
  async function endUnlessRight({ login, end }: Stream): Promise<void> {
    const isRight = await isStillRight(login).catch((error) => {
      log.warn({ err: error }, 'a stream was ended because its login could not be checked')
    })
    if (!isRight) end()
  }

  const endWithAccess = (streams: Iterable<Stream>) => {
    for (const stream of [...streams]) void endUnlessRight(stream)
  }
  const accessFeed: Feed = await listen('mailplane_access', {
    message(change) {
      endWithAccess([...open.values()].filter(({ login }) => concerns(login, change)))
    },
    // Changes may have been missed.
    subscribed: () => endWithAccess(open.values()),
  })

  const stop = () => {
    for (const { end } of [...open.values()]) end()
  }

  return {
    get count() {
      return open.size
    },
    isFull: (holderId: string) => countOf(holderId) >= MAX_PER_HOLDER,

    async serve(response: ServerResponse, login: Login, asked: Asked) {
      const { accounts, holder } = login
      const types = asked.types === '*' || asked.types === '' ? undefined : asked.types.split(',')
      const seen = new Map<string, number>()
      for (const account of accounts) {
        await ensureAccount(db, account)
        seen.set(account.id, await stateOf(db, account.id))
      }
      const write = (event: string, data: object) =>
        response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
      const look = async (accountId: string) => {
        const kinds = await changedKinds(db, accountId, seen.get(accountId) ?? 0)
        const states = kinds.map(({ kind, state }) => [kind, String(state)] as const)
        if (states.length === 0) return
        seen.set(accountId, Math.max(...kinds.map(({ state }) => Number(state))))
        const wanted = states.filter(([kind]) => !types || types.includes(kind))
        if (wanted.length === 0) return
        // The program opens another stream, with the accounts that are left.
        const isAllowed = (await mayUse(db, holder.id, accountId)) && (await isStillRight(login))
        if (!isAllowed) return end()
        write('state', {
          '@type': 'StateChange',
          changed: { [accountId]: Object.fromEntries(wanted) },
        })
        if (asked.closeafter === 'state') end()
      }
      const lookSafely = (accountId: string) =>
        void look(accountId).catch((error) => log.warn({ err: error }, 'a state was not sent'))
      const endings = accounts.flatMap((account) => [
        feed.on(account.id, lookSafely),
        watchers.watch(account),
      ])
      const interval = pingSeconds(asked.ping)
      const pinging = interval && setInterval(() => write('ping', { interval }), interval * 1000)
      const end = () => {
        if (!open.delete(response)) return
        if (pinging) clearInterval(pinging)
        for (const ending of endings) ending()
        response.end()
      }
      const stream = { login, end }
      open.set(response, stream)
      response.on('close', end)
      // Changes while the stream was being opened.
      void endUnlessRight(stream)
      for (const account of accounts) lookSafely(account.id)
    },

    stop,
    async close(): Promise<void> {
      stop()
      await accessFeed.close()
    },
  }
}

const concerns = ({ credential, holder }: Login, change: string): boolean =>
  change === `subject:${holder.id}` ||
  change === `organization:${holder.organization_id}` ||
  (credential.kind === 'session' && change === `session:${credential.id}`)

/** 0: no pings. */
const pingSeconds = (asked: number): number =>
  asked > 0 ? Math.min(MAX_PING_SECONDS, Math.max(MIN_PING_SECONDS, asked)) : 0

import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { AuthenticationRequired } from '../../access/access.errors.ts'
import type { Caller } from '../../access/caller.ts'
import { credentialIn } from '../../access/program-credentials.ts'
import type { Core } from '../../core.ts'
import { ApiError } from '../../errors.ts'
import { parseJson } from '../../lib/json.ts'
import { forThread, joined } from '../../lib/shared-bytes.ts'
import { slots } from '../../lib/slots.ts'
import { taskIn } from '../../lib/worker-pool.ts'
import type { VacationService } from '../mailbox/vacation/vacation.service.ts'
import { type Blob, blobService, type Download } from './blobs/blobs.service.ts'
import type { Turn } from './blobs/sources.ts'
import { responseChunks } from './core/answers.ts'
import { runRequest } from './core/api.ts'
import { JmapError, RequestRefused } from './core/errors.ts'
import { LIMITS, MAX_DOWNLOADS } from './core/limits.ts'
import type { JmapParts, Login } from './core/method.ts'
import { readRequest } from './core/request.ts'
import { sessionOf } from './core/session.ts'
import { isAway } from './imap/connection.ts'
import {
  findHolder,
  type MailAccount,
  ownAccountOf,
  sharedAccounts,
} from './index/accounts.repository.ts'
import { mailStore } from './index/open-mail.ts'
import { openChangeFeed } from './push/change-feed.ts'
import { eventSources } from './push/event-source.ts'
import { pushSender } from './push/push-sender.ts'
import { pusher } from './push/pusher.ts'
import { mailWatchers } from './push/watchers.ts'
import { senderOver } from './submission/send.ts'

const PARSED_HERE = 256 * 1024
const PARSE_MS = 10_000
const parseTask = taskIn<typeof import('../../lib/parse-json.task.ts')>('lib/parse-json')

interface Needs {
  vacation: VacationService
}

export type JmapService = Awaited<ReturnType<typeof jmapService>>

/** JMAP for mailbox holders: RFC 8620 and RFC 8621 over the mail server. */
export async function jmapService(core: Core, { vacation }: Needs) {
  const store = mailStore(core)
  const blobs = blobService(core)
  const pushes = pushSender(core)
  const feed = await openChangeFeed(core)
  const watchers = mailWatchers(core, store)
  const sources = await eventSources({ ...core, feed, watchers })
  const pushing = pusher({ ...core, feed, watchers, sender: pushes })
  const parts: JmapParts = { core, store, blobs, sender: senderOver(core), vacation, pushes }
  const requests = slots(LIMITS.maxConcurrentRequests)
  const downloads = slots(MAX_DOWNLOADS)

  const baseUrl = (called: string) => core.config.SVC_PUBLIC_URL?.replace(/\/+$/, '') ?? called

  function ownAccount({ accounts }: Login, id: string): MailAccount {
    const account = accounts.find((one) => one.id === id)
    if (!account) throw notFound()
    return account
  }

  async function withLimit<Result>({ holder }: Login, work: () => Promise<Result>) {
    const release = requests.take(holder.id)
    if (!release) {
      throw new RequestRefused('limit', 'Too many requests at once', {
        limit: 'maxConcurrentRequests',
      })
    }
    try {
      return await work()
    } finally {
      release()
    }
  }

  const turnsOf =
    (account: MailAccount): Turn =>
    (work) =>
      store.use(account, work, { isFresh: true })

  async function parsed(login: Login, body: Buffer): Promise<unknown> {
    const refused = (detail: string) => new RequestRefused('notJSON', detail)
    if (body.length > PARSED_HERE) {
      const limits = { owner: login.holder.organization_id, timeLimitMs: PARSE_MS }
      const result = await core.workers.run(parseTask, forThread(body), limits)
      if ('refusal' in result) throw refused(result.refusal)
      return result.value
    }
    try {
      return parseJson(body)
    } catch (error) {
      throw refused((error as Error).message)
    }
  }

  /** Undefined without a valid credential. */
  async function credentialOf(caller: Caller, authorization: string | undefined) {
    const { id, session } = caller
    if (caller.kind === 'mailbox' && session) {
      return { id, credential: { kind: 'session' as const, id: session.id } }
    }
    const sent = credentialIn(authorization)
    return sent && core.access.mailLogins.verifyCredential(sent, 'jmap', caller.ip)
  }

  return {
    /** A download whose reader takes nothing for this time ends. */
    stallMs: core.config.JMAP_STALL_SECONDS * 1000,

    figures: () => ({
      accounts: store.figures.open(),
      comparisons: store.figures.synced,
      streams: sources.count,
      watched: watchers.figures.accounts,
      connections: watchers.figures.connections,
    }),

    /** The holder of the session of the web app, or of the credentials of a program. */
    async login(caller: Caller, headers: IncomingHttpHeaders): Promise<Login> {
      const found = await credentialOf(caller, headers.authorization)
      if (!found) throw new AuthenticationRequired()
      const [holder, shared] = await Promise.all([
        findHolder(core.db, found.id),
        sharedAccounts(core.db, found.id),
      ])
      if (!holder) throw new AuthenticationRequired()
      const { credential } = found
      return { caller, credential, holder, accounts: [ownAccountOf(holder), ...shared] }
    },

    session: (login: Login, called: string) => sessionOf(login, baseUrl(called)),

    async run(login: Login, contentType: string, body: Readable, called: string) {
      if (!/^application\/json\s*(;|$)/i.test(contentType)) {
        throw new RequestRefused('notJSON', 'The content type must be application/json')
      }
      return withLimit(login, async () => {
        const bytes = await readBody(body)
        const request = readRequest(await parsed(login, bytes))
        const { answers, createdIds } = await runRequest(parts, login, request)
        if (request.methodCalls.some(([name]) => name === 'PushSubscription/set')) {
          await pushing.follow(login.holder.id)
        }
        const { state: sessionState } = sessionOf(login, baseUrl(called))
        return responseChunks({ answers, createdIds, sessionState })
      })
    },

    upload(login: Login, accountId: string, type: string, body: Readable) {
      const account = ownAccount(login, accountId)
      if (account.isReadOnly) throw new ApiError(403, 'This account is read-only')
      return blobs.upload(account, type, body)
    },

    /** All of a blob at once. */
    async read(login: Login, accountId: string, blobId: string): Promise<Blob> {
      const turn = turnsOf(ownAccount(login, accountId))
      return found(() => turn((mail) => blobs.read(mail, blobId)))
    },

    /** A blob that is read as the client takes it. */
    async download(login: Login, accountId: string, blobId: string): Promise<Download> {
      const account = ownAccount(login, accountId)
      const release = downloads.take(login.holder.id)
      if (!release) throw new ApiError(429, 'Too many downloads at once')
      try {
        const download = await found(() => blobs.download(account, turnsOf(account), blobId))
        download.body.once('close', release)
        return download
      } catch (error) {
        release()
        throw error
      }
    },

    async stream(
      response: ServerResponse,
      login: Login,
      asked: { types: string; closeafter: string; ping: number },
    ) {
      if (sources.isFull(login.holder.id)) {
        response.end()
        return
      }
      await sources.serve(response, login, asked)
    },

    endStreams: () => sources.stop(),

    async stop(): Promise<void> {
      await sources.close()
      await pushing.stop()
      watchers.stop()
      pushes.close()
      await store.stop()
      await feed.close()
    },
  }
}

const notFound = () => new ApiError(404, 'Not found')

/** Reads a blob; errors are those of HTTP. */
async function found<Result>(read: () => Promise<Result | undefined>): Promise<Result> {
  try {
    const result = await read()
    if (result === undefined) throw notFound()
    return result
  } catch (error) {
    if (isAway(error)) throw new ApiError(503, 'The mail server cannot be reached')
    if (!(error instanceof JmapError)) throw error
    throw error.type === 'requestTooLarge' ? new ApiError(413, error.message) : notFound()
  }
}

async function readBody(body: Readable | undefined): Promise<Buffer> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const chunk of (body ?? []) as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > LIMITS.maxSizeRequest) {
      throw new RequestRefused('limit', `A request has at most ${LIMITS.maxSizeRequest} bytes`, {
        limit: 'maxSizeRequest',
      })
    }
    pieces.push(chunk)
  }
  return joined(pieces)
}

import { ServiceUnavailable } from '../../../errors.ts'
import { OutOfTime, PoolBusy } from '../../../lib/worker-pool.ts'
import { WireBroken } from '../../../mail/imap/wire.ts'
import { isAway } from '../imap/connection.ts'
import type { MailAccount } from '../index/accounts.repository.ts'
import type { OpenMail } from '../index/open-mail.ts'
import { answersOf, answerTooLarge, type Invocation, type ShownError } from './answers.ts'
import { type Arguments, stringArgument } from './arguments.ts'
import { invalidArguments, JmapError } from './errors.ts'
import { CORE, MAIL } from './limits.ts'
import type { Call, JmapParts, Login, Method, PlainMethod } from './method.ts'
import { METHODS } from './method-table.ts'
import { type JmapRequest, withReferences } from './request.ts'

const COPYING = new Set(['Email/copy', 'Blob/copy'])

/** Runs the calls of a request one after the other, RFC 8620 section 3. */
export async function runRequest(parts: JmapParts, login: Login, request: JmapRequest) {
  const answers = answersOf()
  const createdIds = new Map(Object.entries(request.createdIds ?? {}))
  /** Accounts whose index was compared for this request. */
  const fresh = new Set<string>()
  for (const [name, given, callId] of request.methodCalls) {
    const more: Invocation[] = []
    const also: Call['also'] = (also, answer) => more.push([also, answer, callId])
    try {
      if (answers.left() === 0) throw answerTooLarge()
      const method = METHODS.get(name)
      if (!method || !request.using.includes(method.capability)) {
        throw new JmapError('unknownMethod')
      }
      const args = await withReferences(given, answers)
      const running = { parts, login, createdIds, fresh, also, room: answers.left }
      const answer = await runCall(running, name, method, args)
      const add = method.isWriting ? answers.addDone : answers.add
      for (const one of [[name, answer as Arguments, callId] as Invocation, ...more]) await add(one)
    } catch (error) {
      await answers.addError(methodError(parts, name, error), callId)
    }
  }
  return { answers, createdIds: request.createdIds && Object.fromEntries(createdIds) }
}

interface Running extends Pick<Call, 'createdIds' | 'also' | 'room'> {
  parts: JmapParts
  login: Login
  fresh: Set<string>
}

async function runCall(
  running: Running,
  name: string,
  method: Method | PlainMethod,
  args: Arguments,
) {
  const { parts, login } = running
  if ('runPlain' in method) return method.runPlain(parts, login, args)
  const account = accountOf(login, method, args)
  const run = (mail: OpenMail, source?: OpenMail) => method.run(callOf(running, mail, source), args)
  if (COPYING.has(name)) return parts.store.useBoth(account, sourceOf(login, account, args), run)
  const isFresh = running.fresh.has(account.id)
  running.fresh.add(account.id)
  try {
    return await parts.store.use(account, run, { isFresh })
  } catch (error) {
    // Dovecot ends a connection whose folder was made anew; reading can be repeated.
    if (method.isWriting || !(error instanceof WireBroken)) throw error
    return parts.store.use(account, run)
  }
}

const callOf = (running: Running, mail: OpenMail, source: OpenMail | undefined): Call => ({
  ...running.parts,
  login: running.login,
  createdIds: running.createdIds,
  also: running.also,
  room: running.room,
  mail,
  source,
})

/** An account of another holder does not exist for the caller. */
function accountOf({ accounts }: Login, method: Method, args: Arguments): MailAccount {
  const id = stringArgument(args, 'accountId')
  const account = accounts.find((one) => one.id === id)
  if (!account) throw new JmapError('accountNotFound')
  const isOffered = account.isPersonal || method.capability === MAIL || method.capability === CORE
  if (!isOffered) throw new JmapError('accountNotSupportedByMethod')
  if (method.isWriting && account.isReadOnly) throw new JmapError('accountReadOnly')
  return account
}

function sourceOf({ accounts }: Login, to: MailAccount, args: Arguments): MailAccount {
  const id = stringArgument(args, 'fromAccountId')
  if (id === to.id) throw invalidArguments('fromAccountId and accountId must differ')
  const account = accounts.find((one) => one.id === id)
  if (!account) throw new JmapError('fromAccountNotFound')
  return account
}

function methodError({ core }: JmapParts, name: string, error: unknown): ShownError {
  if (error instanceof JmapError) return error.toJSON()
  if (isAway(error) || error instanceof ServiceUnavailable) {
    core.log.info({ err: error, method: name }, 'the mail server is away')
    return { type: 'serverUnavailable', description: 'The mail server cannot be reached' }
  }
  if (error instanceof PoolBusy) {
    return { type: 'serverUnavailable', description: 'The server is busy; try again' }
  }
  if (error instanceof OutOfTime) {
    return { type: 'serverFail', description: 'The message takes too long to read' }
  }
  core.log.error({ err: error, method: name }, 'a JMAP method failed')
  return { type: 'serverFail', description: 'The server failed; the log has the reason' }
}

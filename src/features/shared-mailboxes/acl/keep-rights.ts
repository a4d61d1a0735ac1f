import type { Core } from '../../../core.ts'
import type { Chore } from '../../../jobs/chores.ts'
import { DoveadmAway, NO_SUCH_USER, NOT_FOUND } from '../../../mail/doveadm.ts'
import * as pending from './acl.repository.ts'
import { entryOf, FOLDER, readEntry, stepsBetween } from './acl-rights.ts'

/** Each takes three short requests, well within its lease. */
const AT_ONCE = 4
const MAX_WAIT_SECONDS = 300

type Needs = Pick<Core, 'authCache' | 'db' | 'doveadm' | 'log'>

/** Keeps the rights in Dovecot what the members of shared mailboxes have. */
export const keepSharedRights: Chore = {
  name: 'shared-mailbox-rights',
  begin: ({ db }) => pending.markAll(db),
  async round(core) {
    if (!core.doveadm.isConfigured) return false
    const taken = await pending.lease(core.db, AT_ONCE)
    const results = await Promise.allSettled(taken.map((one) => settle(core, one)))
    const failed = results.find((result) => result.status === 'rejected')
    if (failed) throw failed.reason
    return taken.length > 0
  },
}

async function settle(core: Needs, one: pending.Pending): Promise<void> {
  try {
    await reconcile(core, one.email)
    await pending.finish(core.db, one)
  } catch (error) {
    if (error instanceof DoveadmAway) {
      await pending.release(core.db, [one.email])
      throw error
    }
    core.log.warn({ err: error, attempts: one.attempts }, 'rights of a shared mailbox were not set')
    await pending.postpone(core.db, one.email, Math.min(MAX_WAIT_SECONDS, 2 ** one.attempts))
  }
}

/** What is there is asked first, so that it may be done twice, or go on after half of it. */
async function reconcile({ authCache, db, doveadm }: Needs, email: string): Promise<void> {
  const { isHosted, isPersonal, isShared, members } = await pending.wanted(db, email)
  // Its holder may share folders too. Mail is kept by id, so nothing of the shared one is there.
  if (isPersonal) return
  const entries = members.map(entryOf)
  const get = async () => {
    const [answer] = await doveadm.run([['aclGet', { user: email, mailbox: FOLDER }]])
    if (answer?.rows) return answer.rows.map(readEntry)
    if (answer?.exitCode === NOT_FOUND) return []
    if (answer?.exitCode === NO_SUCH_USER && !(isHosted && entries.length > 0)) return undefined
    throw new Error(`Dovecot does not show rights: exit status ${answer?.exitCode}`)
  }
  const steps = stepsBetween(email, (await get()) ?? [], entries)
  const answers = await doveadm.run(steps)
  const failed = answers.findIndex(({ rows }) => rows === undefined)
  if (failed >= 0) {
    throw new Error(`${steps[failed]?.[0]} failed: exit status ${answers[failed]?.exitCode}`)
  }
  if (steps.length > 0 && stepsBetween(email, (await get()) ?? [], entries).length > 0) {
    throw new Error('Dovecot shows other rights than it was told')
  }
  // It remembers where the mail of an address is; of one that is gone it must not.
  if (!isShared) await authCache.flush([email])
}

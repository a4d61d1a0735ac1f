import { setTimeout as sleep } from 'node:timers/promises'
import type { Core } from '../../../core.ts'
import type { Tx } from '../../../database/database.ts'
import type { Chore } from '../../../jobs/chores.ts'
import { tellCrossings } from './alerts.ts'
import * as usage from './usage.repository.ts'

const AT_ONCE = 200
const HELD_PAUSE_MS = 50
const TRIES = 40

type Needs = Pick<Core, 'config' | 'db' | 'events' | 'now'>

/** Propagates the figures of Dovecot to mailboxes, domains and organizations, and emits alerts. */
export const followUsage: Chore = {
  name: 'storage',
  async round(core) {
    const { taken, done } = await core.db.transaction().execute((tx) => followMarks(core, tx))
    // Another transaction holds one of the domains for a moment.
    if (done < taken) await sleep(HELD_PAUSE_MS)
    return taken > 0
  },
}

/** Lets a caller read the figures that were just stored. */
export async function followAtOnce(core: Needs, emails: string[]): Promise<void> {
  for (let attempt = 0; attempt < TRIES && emails.length > 0; attempt++) {
    const left = emails
    const done = await core.db.transaction().execute(async (tx) => {
      await usage.takeMarksOf(tx, left)
      const { emails: finished } = await followNamed(core, tx, left, [], true)
      await usage.removeMarks(tx, 'mailbox', finished)
      return new Set(finished)
    })
    emails = left.filter((email) => !done.has(email))
    if (emails.length > 0) await sleep(HELD_PAUSE_MS)
  }
}

async function followMarks(core: Needs, tx: Tx) {
  const marks = await usage.takeMarks(tx, AT_ONCE)
  const named = (kind: usage.Mark['kind']) =>
    marks.filter((mark) => mark.kind === kind).map(({ name }) => name)
  const { emails, domains } = await followNamed(core, tx, named('mailbox'), named('domain'))
  await usage.removeMarks(tx, 'mailbox', emails)
  await usage.removeMarks(tx, 'domain', domains)
  return { taken: marks.length, done: emails.length + domains.length }
}

/** Returns the marks that were processed; those that another transaction holds are not. */
async function followNamed(core: Needs, tx: Tx, emails: string[], names: string[], anew = false) {
  const found = await usage.domainsOf(tx, emails, names)
  const ids = [...new Set(found.map(({ domain_id }) => domain_id))]
  const locked = ids.length === 0 ? new Set<string>() : await usage.lockDomains(tx, ids)
  const accounts = await usage.lockMailboxes(tx, emails, locked)
  const accountIds = accounts.map(({ id }) => id)
  if (accountIds.length > 0) await usage.carry(tx, accountIds, core.now(), anew)
  await tellCrossings(core, tx, {
    mailboxes: accountIds.length === 0 ? [] : await usage.mailboxes(tx, accountIds),
    domains: locked.size === 0 ? [] : await usage.domains(tx, [...locked]),
  })
  const done = new Set(accounts.map(({ email }) => email))
  // Shared and deleted mailboxes have no row to update.
  const known = new Set(found.map(({ email }) => email))
  const held = new Set(
    found.filter(({ domain_id }) => !locked.has(domain_id)).map(({ domain }) => domain),
  )
  return {
    emails: emails.filter((email) => done.has(email) || !known.has(email)),
    domains: names.filter((name) => !held.has(name)),
  }
}

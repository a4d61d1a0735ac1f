import type { Core } from '../../core.ts'
import { type Command, NO_SUCH_USER, type Outcome } from '../../mail/doveadm.ts'
import * as rights from './shared-mailboxes.rights.repository.ts'
import type { Permission } from './shared-mailboxes.schemas.ts'

type Needs = Pick<Core, 'db' | 'doveadm'>

// RFC 4314 names, as Dovecot writes them out. Reading marks nothing for the others.
const LOOK = ['lookup', 'read']
const WORK = [
  ...LOOK,
  ...['write', 'write-seen', 'write-deleted', 'insert', 'post', 'expunge', 'create', 'delete'],
]
const RIGHTS: Record<Permission, string[]> = {
  full_access: WORK,
  send_as: LOOK,
  send_on_behalf: LOOK,
  read_only: LOOK,
}

export type SharedRights = ReturnType<typeof sharedRights>

/**
 * Gives members of shared mailboxes the rights that Dovecot asks for, and takes them away again. What
 * was given is noted after it was given: cut off in between, it is given once more.
 */
export function sharedRights({ db, doveadm }: Needs) {
  /** Under a lock of this mailbox, so that of two processes the later one sees what the first did. */
  const settle = (id: string) =>
    db.transaction().execute(async (tx) => {
      await rights.lock(tx, id)
      const wanted = await rights.wanted(tx, id)
      const given = await rights.given(tx, id)
      for (const row of given) {
        if (wanted.some((one) => one.member_email === row.member_email)) continue
        await tell(['aclDelete', acl(row)])
        await rights.forget(tx, row)
      }
      for (const row of wanted) {
        const before = given.find((one) => one.member_email === row.member_email)
        if (before?.permission === row.permission) continue
        // Setting adds nothing to what was there: the list is replaced.
        await tell(['aclSet', { ...acl(row), right: RIGHTS[row.permission as Permission] }])
        await rights.note(tx, row)
      }
    })

  const acl = (row: rights.RightRow) => ({
    user: row.shared_email,
    mailbox: 'INBOX',
    id: `user=${row.member_email}`,
  })

  async function tell(command: Command): Promise<void> {
    const [outcome] = (await doveadm.run([command])) as [Outcome]
    if ('rows' in outcome) return
    // A mailbox that is gone has nobody to let in.
    if (command[0] === 'aclDelete' && outcome.exitCode === NO_SUCH_USER) return
    throw new Error(`Dovecot refuses ${command[0]} with ${outcome.exitCode} ${outcome.type}`)
  }

  return {
    settle,
    /** Where what was given is not what should be. */
    async settleAll(): Promise<void> {
      if (!doveadm.isConfigured) return
      for (const id of await rights.unsettled(db)) await settle(id)
    },
  }
}

import type { DoveadmCommand } from '../../../mail/doveadm.ts'
import type { Permission } from '../shared-mailboxes.schemas.ts'

const READ = ['lookup', 'read']

/** In Dovecot's words. Who may send is the mail server's question at submission, not a right here. */
export const RIGHTS: Record<Permission, readonly string[]> = {
  full_access: [
    ...READ,
    'write',
    'write-seen',
    'write-deleted',
    'insert',
    'expunge',
    'create',
    'delete',
  ],
  send_as: READ,
  send_on_behalf: READ,
  read_only: READ,
}

export interface Entry {
  id: string
  rights: readonly string[]
}

/** Rights of the inbox are those of all folders, by `acl_defaults_from_inbox`. */
export const FOLDER = 'INBOX'

export const entryOf = ({
  email,
  permission,
}: {
  email: string
  permission: Permission
}): Entry => ({
  id: `user=${email}`,
  rights: RIGHTS[permission],
})

/** What a mailbox has of itself is nobody else's access. */
const OWN = 'owner'

/** The commands that lead from what is there to what should be; none when it is so already. */
export function stepsBetween(
  user: string,
  current: readonly Entry[],
  wanted: readonly Entry[],
): DoveadmCommand[] {
  const at = { user, mailbox: FOLDER }
  const known = new Map(current.map((entry) => [entry.id, entry]))
  const kept = new Set(wanted.map(({ id }) => id))
  return [
    // Taking away comes first.
    ...current
      .filter(({ id }) => id !== OWN && !kept.has(id))
      .map(({ id }): DoveadmCommand => ['aclDelete', { ...at, id }]),
    ...wanted
      .filter((entry) => !isSame(entry, known.get(entry.id)))
      .map(({ id, rights }): DoveadmCommand => ['aclSet', { ...at, id, right: rights }]),
  ]
}

const isSame = (one: Entry, other: Entry | undefined): boolean =>
  other !== undefined && [...one.rights].sort().join() === [...other.rights].sort().join()

/** A row of `aclGet`. */
export const readEntry = ({ id = '', rights = '' }: Record<string, string>): Entry => ({
  id,
  rights: rights.split(' ').filter((right) => right !== ''),
})

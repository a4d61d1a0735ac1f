import type { DoveadmCommand } from '../../../mail/doveadm.ts'
import type { Permission } from '../shared-mailboxes.schemas.ts'

const READ = ['lookup', 'read']

/** Dovecot rights. Permission to send is checked at submission and is no Dovecot right. */
const RIGHTS: Record<Permission, readonly string[]> = {
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

/** Folders without rights of their own take those of the inbox (`acl_defaults_from_inbox`). */
export const INBOX = 'INBOX'

/** Rights that remove mail; no member has them while a legal hold keeps the mail. */
const REMOVING = new Set(['expunge', 'delete'])

export const entryOf = (
  { email, permission }: { email: string; permission: Permission },
  isKept: boolean,
): Entry => ({
  id: `user=${email}`,
  rights: RIGHTS[permission].filter((right) => !(isKept && REMOVING.has(right))),
})

/** The entry of the mailbox itself, which is never removed. */
const OWNER = 'owner'

/** Returns the commands that turn the current entries into the target; none when they are equal. */
export function stepsBetween(
  at: { user: string; mailbox: string },
  current: readonly Entry[],
  target: readonly Entry[],
): DoveadmCommand[] {
  const currentById = new Map(current.map((entry) => [entry.id, entry]))
  const targetIds = new Set(target.map(({ id }) => id))
  return [
    // Revoke before granting.
    ...current
      .filter(({ id }) => id !== OWNER && !targetIds.has(id))
      .map(({ id }): DoveadmCommand => ['aclDelete', { ...at, id }]),
    ...target
      .filter((entry) => !isSame(entry, currentById.get(entry.id)))
      .map(({ id, rights }): DoveadmCommand => ['aclSet', { ...at, id, right: rights }]),
  ]
}

/** The addresses of those who have a right that they are not allowed. */
export function losersOf(current: readonly Entry[], allowed: readonly Entry[]): string[] {
  const allowedById = new Map(allowed.map(({ id, rights }) => [id, new Set(rights)]))
  return current
    .filter(({ id, rights }) => rights.some((right) => !allowedById.get(id)?.has(right)))
    .flatMap(({ id }) => ONE_USER.exec(id)?.groups?.email ?? [])
}

/** An entry without wildcards, which would end the sessions of others. */
const ONE_USER = /^user=(?<email>[^*?]+)$/

const isSame = (one: Entry, other: Entry | undefined): boolean =>
  other !== undefined && [...one.rights].sort().join() === [...other.rights].sort().join()

/** Parses a row of `aclGet`. */
export const readEntry = ({ id = '', rights = '' }: Record<string, string>): Entry => ({
  id,
  rights: rights.split(' ').filter((right) => right !== ''),
})

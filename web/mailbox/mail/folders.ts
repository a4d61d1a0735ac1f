import type { Folder } from './types.ts'

/** The order of the folders that every mailbox has. */
const ROLES = ['inbox', 'drafts', 'sent', 'archive', 'junk', 'trash']

export interface ListedFolder extends Folder {
  depth: number
}

/** The folders as a flat tree: those with a role first, the others by name, children below parents. */
export function orderedFolders(folders: readonly Folder[]): ListedFolder[] {
  const known = new Set(folders.map(({ id }) => id))
  const children = new Map<string | null, Folder[]>()
  for (const folder of folders) {
    const parent = folder.parentId !== null && known.has(folder.parentId) ? folder.parentId : null
    children.set(parent, [...(children.get(parent) ?? []), folder])
  }
  const listed: ListedFolder[] = []
  const add = (parent: string | null, depth: number) => {
    for (const folder of (children.get(parent) ?? []).sort(inOrder)) {
      listed.push({ ...folder, depth })
      add(folder.id, depth + 1)
    }
  }
  add(null, 0)
  return listed
}

const rank = ({ role }: Folder) => {
  const at = ROLES.indexOf(role ?? '')
  return at < 0 ? ROLES.length : at
}

const inOrder = (one: Folder, other: Folder) =>
  rank(one) - rank(other) || one.sortOrder - other.sortOrder || one.name.localeCompare(other.name)

export const folderOf = <One extends Folder>(folders: readonly One[], role: string) =>
  folders.find((folder) => folder.role === role)

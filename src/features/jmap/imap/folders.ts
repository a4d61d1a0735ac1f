import type { Connection } from './connection.ts'
import { decodeName } from './folder-names.ts'
import { listOf, pairsOf, readTokens, textOfToken } from './tokens.ts'

/** A folder of a mailbox, with the figures that tell whether it has changed. */
export interface Folder {
  guid: string
  path: string
  name: string
  parentPath: string | null
  role: string | null
  isSubscribed: boolean
  uidValidity: number
  uidNext: number
  modseq: number
  messages: number
}

/** The namespace of folders that other mailboxes share with this one; they are accounts of their own. */
const SHARED = /^shared(\/|$)/i
const ROLES: Record<string, string> = {
  '\\drafts': 'drafts',
  '\\sent': 'sent',
  '\\trash': 'trash',
  '\\junk': 'junk',
  '\\archive': 'archive',
}

const COMMAND =
  'LIST "" "*" RETURN (SUBSCRIBED SPECIAL-USE STATUS (MESSAGES UIDNEXT UIDVALIDITY HIGHESTMODSEQ X-GUID))'

/** All folders of a mailbox in one round trip. */
export async function listFolders({ command }: Connection): Promise<Folder[]> {
  const { responses } = await command(COMMAND)
  const flagsByPath = new Map<string, { separator: string; flags: string[] }>()
  const folders: Folder[] = []
  for (const { text, literals } of responses) {
    const [, kind, ...values] = readTokens(text, literals)
    const name = textOfToken(kind).toUpperCase()
    if (name === 'LIST') {
      const flags = listOf(values[0]).map((flag) => textOfToken(flag).toLowerCase())
      const separator = textOfToken(values[1]) || '/'
      flagsByPath.set(decodeName(textOfToken(values[2])), { separator, flags })
    } else if (name === 'STATUS') {
      const path = decodeName(textOfToken(values[0]))
      const listed = flagsByPath.get(path)
      const folder = listed && folderOf(path, listed, pairsOf(listOf(values[1])))
      if (folder && !SHARED.test(path)) folders.push(folder)
    }
  }
  return folders
}

function folderOf(
  path: string,
  { separator, flags }: { separator: string; flags: string[] },
  status: ReturnType<typeof pairsOf>,
): Folder | undefined {
  const guid = textOfToken(status.get('X-GUID'))
  if (guid === '') return undefined
  const number = (name: string) => Number(textOfToken(status.get(name)))
  const cut = path.lastIndexOf(separator)
  const isInbox = path.toUpperCase() === 'INBOX'
  return {
    guid,
    path,
    name: isInbox ? 'Inbox' : path.slice(cut + 1),
    parentPath: cut > 0 ? path.slice(0, cut) : null,
    role: isInbox ? 'inbox' : (flags.map((flag) => ROLES[flag]).find(Boolean) ?? null),
    isSubscribed: flags.includes('\\subscribed'),
    uidValidity: number('UIDVALIDITY'),
    uidNext: number('UIDNEXT'),
    modseq: number('HIGHESTMODSEQ'),
    messages: number('MESSAGES'),
  }
}

import { isObject } from '../../../lib/is-object.ts'
import { quoted } from '../../../mail/imap/messages.ts'
import { invalidProperties, JmapError } from '../core/errors.ts'
import type { Call } from '../core/method.ts'
import { type Patch, resolved } from '../core/set-objects.ts'
import { encodeName } from '../imap/folder-names.ts'
import { flagsOf, isKeyword } from '../imap/keywords.ts'
import { expunge } from './destroy-emails.ts'
import { type EmailRow, findEmail } from './emails.repository.ts'
import { readKeywords, readMailboxes, refusals } from './store-email.ts'

/** Changes keywords and mailboxes of a message, RFC 8621 section 4.6. */
export async function updateEmail(call: Call, id: string, patch: Patch): Promise<null> {
  const { core, mail } = call
  const row = await findEmail(core.db, mail.account.id, id)
  if (!row) throw new JmapError('notFound')
  const wanted = await readPatch(call, row, patch)
  await refusals(() => move(call, row, wanted.mailboxes))
  const moved = wanted.mailboxes ? await findEmail(core.db, mail.account.id, id) : row
  if (!moved) throw new JmapError('notFound')
  if (wanted.keywords) {
    const { keywords } = wanted
    await refusals(() => setKeywords(call, moved, keywords))
  }
  return null
}

interface Wanted {
  keywords: Set<string> | undefined
  mailboxes: { id: string; path: string }[] | undefined
}

/** A patch sets whole properties, or parts of them such as `keywords/$seen`. */
async function readPatch(call: Call, row: EmailRow, patch: Patch): Promise<Wanted> {
  let keywords: Set<string> | undefined
  let mailboxIds: Record<string, unknown> | undefined
  const current = Object.fromEntries(row.places.map(({ mailboxId }) => [mailboxId, true]))
  for (const [path, value] of Object.entries(patch)) {
    const [property, ...rest] = path.split('/')
    const key = rest.join('/').replaceAll('~1', '/').replaceAll('~0', '~')
    const isWhole = rest.length === 0
    if (!isWhole && value !== true && value !== null) throw new JmapError('invalidPatch')
    if (property === 'keywords') {
      if (isWhole) keywords = new Set(readKeywords(value ?? undefined))
      else keywords = patchedKeywords(keywords ?? new Set(row.keywords), key, value === true)
    } else if (property === 'mailboxIds') {
      if (isWhole && !isObject(value)) throw invalidProperties(['mailboxIds'])
      mailboxIds ??= current
      if (isWhole) mailboxIds = value as Record<string, unknown>
      else mailboxIds = patchedIds(mailboxIds, resolved(key, call.createdIds), value === true)
    } else throw invalidProperties([path])
  }
  return { keywords, mailboxes: mailboxIds && (await readMailboxes(call, mailboxIds)) }
}

function patchedKeywords(keywords: Set<string>, keyword: string, isOn: boolean): Set<string> {
  if (!isKeyword(keyword)) throw new JmapError('invalidPatch')
  if (isOn) keywords.add(keyword.toLowerCase())
  else keywords.delete(keyword.toLowerCase())
  return keywords
}

function patchedIds(ids: Record<string, unknown>, id: string, isIn: boolean) {
  const { [id]: _, ...others } = ids
  return isIn ? { ...ids, [id]: true } : others
}

async function move(call: Call, row: EmailRow, wanted: Wanted['mailboxes']): Promise<void> {
  if (!wanted) return
  const { mail } = call
  const [first] = row.places
  if (!first) return
  const before = new Set(row.places.map(({ mailboxId }) => mailboxId))
  const after = new Set(wanted.map(({ id }) => id))
  const added = wanted.filter(({ id }) => !before.has(id))
  const left = row.places.filter(({ mailboxId }) => !after.has(mailboxId))
  if (added.length === 0 && left.length === 0) return
  const imap = await mail.imap()
  const target = added[0]
  if (target && added.length === 1 && left.length === 1 && row.places.length === 1) {
    await imap.select(first.path)
    await imap.command(`UID MOVE ${first.uid} ${quoted(encodeName(target.path))}`)
  } else {
    // Copies first: a process that ends in between leaves the message in too many mailboxes.
    if (added.length > 0) await imap.select(first.path)
    for (const { path } of added) {
      await imap.command(`UID COPY ${first.uid} ${quoted(encodeName(path))}`)
    }
    await expunge(call, left)
  }
  await mail.sync()
}

async function setKeywords(call: Call, row: EmailRow, keywords: Set<string>): Promise<void> {
  const isSame =
    keywords.size === row.keywords.length && row.keywords.every((word) => keywords.has(word))
  if (isSame) return
  const { mail } = call
  const imap = await mail.imap()
  for (const { path, uid } of row.places) {
    await imap.select(path)
    await imap.command(`UID STORE ${uid} FLAGS.SILENT (${flagsOf(keywords).join(' ')})`)
  }
  await mail.sync()
}

import { Readable } from 'node:stream'
import type { Core } from '../../../core.ts'
import { deletedMailboxes } from '../../../hosting/deleted-mailboxes.repository.ts'
import { type PastDays, pastDays } from '../../../hosting/past-days.ts'
import { type ArchiveWriter, csvLine, pathPart } from '../../../lib/archive-writer.ts'
import { withMailbox } from '../../../mail/imap-mailbox.ts'
import { KEPT_FOLDERS } from '../../../mail/kept-folders.ts'
import { SieveNotConfigured } from '../../../mail/managesieve/errors.ts'
import { ownFolders } from '../../../mail/own-folders.ts'
import { list as consentsOf } from '../consent/consent.repository.ts'
import { hasMail, personsOf } from '../people.repository.ts'
import type { Person } from '../personal-data/personal-table.ts'
import type { ClaimedExport } from './exports.repository.ts'
import { addMail } from './mail-of-person.ts'
import * as person from './person.repository.ts'
import { addRecords } from './records-of-person.ts'

type Needs = Pick<
  Core,
  | 'clickhouse'
  | 'config'
  | 'db'
  | 'doveadm'
  | 'mailServers'
  | 'now'
  | 'outbound'
  | 'sieve'
  | 'vault'
>
type Counts = Record<string, number>

/** Writes the stored data of a person to an archive and returns the counts by kind. */
export async function fillArchive(
  needs: Needs,
  request: ClaimedExport,
  archive: ArchiveWriter,
): Promise<Counts> {
  const { export_type: type } = request
  const persons = await personsOf(needs.db, request)
  const counts: Counts = {}
  const past = pastDays(needs)
  const copies = await past.copiesIn({})
  if (type === 'full' || type === 'settings') {
    Object.assign(counts, await addSettings(needs, request, persons, archive))
  }
  if (type === 'full') {
    Object.assign(counts, await addLogs(needs, { past, copies }, persons, archive))
    Object.assign(counts, await addRecords(needs, persons, archive))
  }
  if (type === 'full' || type === 'contacts') {
    counts.contacts = await addContacts(needs, { past, copies }, request, archive)
  }
  // The log of that day may be missing here, or be here twice. The export is tried again.
  if (String(await past.copiesIn({})) !== String(copies)) {
    throw new Error('a day of the mail log has moved during the export')
  }
  if (type === 'full' || type === 'emails') {
    Object.assign(counts, await addAllMail(needs, request, archive))
  }
  archive.json('manifest.json', {
    user_email: request.user_email,
    export_type: type,
    export_id: request.id,
    requested_by: request.requested_by,
    requested_at: request.created_at,
    made_at: needs.now().toISOString(),
    contents: counts,
  })
  return counts
}

/** The mail of the mailbox, and of deleted mailboxes with this address whose mail is still on disk. */
async function addAllMail(needs: Needs, request: ClaimedExport, archive: ArchiveWriter) {
  const sources = (await deletedMailboxes(needs.db, request.user_email)).map(({ id, login }) => ({
    login,
    prefix: `deleted-mail/${id}`,
  }))
  const isOpen = request.account_id !== null && (await hasMail(needs.db, request.user_email))
  if (isOpen) sources.unshift({ login: request.user_email, prefix: 'mail' })
  const counts: Counts = { folders: 0, messages: 0, messages_gone: 0 }
  for (const { login, prefix } of sources) {
    const kept = await keptFolders(needs, login)
    const added = await withMailbox(needs, login, (client) =>
      addMail(client, archive, prefix, kept),
    )
    for (const [name, count] of Object.entries(added)) counts[name] = (counts[name] ?? 0) + count
  }
  return counts
}

/** The folders of messages that a legal hold keeps. */
const keptFolders = async ({ doveadm }: Needs, login: string): Promise<string[]> =>
  doveadm.isConfigured
    ? (await ownFolders(doveadm, login, [KEPT_FOLDERS])).map(({ name }) => name)
    : []

async function addSettings(
  needs: Needs,
  { account_id, user_email }: ClaimedExport,
  persons: readonly Person[],
  archive: ArchiveWriter,
) {
  const { db } = needs
  for (const { account_id: id } of persons) {
    if (id === null) continue
    const folder = id === account_id ? '' : `prepared-mailboxes/${id}/`
    archive.json(`${folder}account.json`, (await person.account(db, id)) ?? null)
    archive.json(`${folder}settings.json`, (await person.settings(db, id)) ?? null)
    archive.json(`${folder}shared-mailboxes.json`, await person.sharedMailboxes(db, id))
  }
  const aliases = await person.aliases(db, user_email)
  archive.json('aliases.json', aliases)
  const consents = await consentsOf(db, user_email)
  archive.json('consents.json', consents)
  const hasRules = account_id !== null && (await hasMail(db, user_email))
  const rules = hasRules ? await addRules(needs, user_email, archive) : 0
  return { aliases: aliases.length, consents: consents.length, rules }
}

/** Without a configured ManageSieve service there are no filter scripts. */
async function addRules({ sieve }: Needs, email: string, archive: ArchiveWriter) {
  try {
    return await sieve.session(email, async (session) => {
      const scripts = await session.list()
      for (const { name, active } of scripts) {
        const suffix = active ? '' : '.inactive'
        archive.text(`rules/${pathPart(name)}${suffix}.sieve`, (await session.get(name)) ?? '')
      }
      return scripts.length
    })
  } catch (error) {
    if (error instanceof SieveNotConfigured) return 0
    throw error
  }
}

interface Past {
  past: PastDays
  copies: string[]
}

async function addLogs(
  { db }: Needs,
  { past, copies }: Past,
  persons: readonly Person[],
  archive: ArchiveWriter,
) {
  const email = persons[0]?.email ?? ''
  const accounts = persons.flatMap(({ account_id }) => account_id ?? [])
  let rows = 0
  async function* lines() {
    for await (const row of person.mailLog(db, past, copies, email)) {
      rows++
      yield `${JSON.stringify(row)}\n`
    }
  }
  await archive.stream('logs/mail.ndjson', Readable.from(lines()))
  const sessions = await person.sessions(db, accounts)
  archive.json('logs/sessions.json', sessions)
  const failed = await person.failedLogins(db, email)
  archive.json('logs/failed-logins.json', failed)
  return { log_rows: rows, sessions: sessions.length, failed_logins: failed.length }
}

async function addContacts(
  { db }: Needs,
  { past, copies }: Past,
  { user_email }: ClaimedExport,
  archive: ArchiveWriter,
) {
  const contacts = await person.contacts(db, past, copies, user_email)
  const lines = contacts.map(({ address, sent, received }) => csvLine([address, sent, received]))
  archive.text('contacts.csv', csvLine(['address', 'sent', 'received']) + lines.join(''))
  archive.json('contacts.json', contacts)
  return contacts.length
}

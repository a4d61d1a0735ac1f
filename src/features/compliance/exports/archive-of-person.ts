import { Readable } from 'node:stream'
import type { Core } from '../../../core.ts'
import { withMailbox } from '../../../mail/imap-mailbox.ts'
import { SieveNotConfigured } from '../../../mail/managesieve/errors.ts'
import { list as consentsOf } from '../consent/consent.repository.ts'
import { type ArchiveWriter, csvLine, pathPart } from './archive-writer.ts'
import type { ClaimedExport } from './exports.repository.ts'
import { addMail } from './mail-of-person.ts'
import * as person from './person.repository.ts'

type Needs = Pick<Core, 'config' | 'db' | 'now' | 'sieve'>
type Counts = Record<string, number>

/** Puts all that is kept about a person into an archive; answers how many of what. */
export async function fillArchive(
  needs: Needs,
  wanted: ClaimedExport,
  archive: ArchiveWriter,
): Promise<Counts> {
  const { export_type: type } = wanted
  const counts: Counts = {}
  if (type === 'full' || type === 'settings') {
    Object.assign(counts, await addSettings(needs, wanted, archive))
  }
  if (type === 'full') Object.assign(counts, await addLogs(needs, wanted, archive))
  if (type === 'full' || type === 'contacts') {
    counts.contacts = await addContacts(needs, wanted, archive)
  }
  if (type === 'full' || type === 'emails') {
    const { user_email } = wanted
    Object.assign(
      counts,
      await withMailbox(needs.config, user_email, (client) => addMail(client, archive)),
    )
  }
  archive.json('manifest.json', {
    user_email: wanted.user_email,
    export_type: type,
    export_id: wanted.id,
    requested_by: wanted.requested_by,
    requested_at: wanted.created_at,
    made_at: needs.now().toISOString(),
    contents: counts,
  })
  return counts
}

async function addSettings(needs: Needs, wanted: ClaimedExport, archive: ArchiveWriter) {
  const { db } = needs
  const { account_id, organization_id, user_email } = wanted
  archive.json('account.json', (await person.account(db, account_id)) ?? null)
  archive.json('settings.json', (await person.settings(db, account_id)) ?? null)
  const aliases = await person.aliases(db, organization_id, user_email)
  archive.json('aliases.json', aliases)
  archive.json('shared-mailboxes.json', await person.sharedMailboxes(db, account_id))
  const consents = await consentsOf(db, user_email)
  archive.json('consents.json', consents)
  const rules = await addRules(needs, user_email, archive)
  return { aliases: aliases.length, consents: consents.length, rules }
}

/** The filter scripts as they are; where no filter service is configured there are none. */
async function addRules({ sieve }: Needs, email: string, archive: ArchiveWriter) {
  try {
    return await sieve.session(email, async (session) => {
      const scripts = await session.list()
      for (const { name, active } of scripts) {
        const mark = active ? '' : '.inactive'
        archive.text(`rules/${pathPart(name)}${mark}.sieve`, (await session.get(name)) ?? '')
      }
      return scripts.length
    })
  } catch (error) {
    if (error instanceof SieveNotConfigured) return 0
    throw error
  }
}

async function addLogs({ db }: Needs, wanted: ClaimedExport, archive: ArchiveWriter) {
  const { account_id, user_email } = wanted
  let rows = 0
  async function* lines() {
    for await (const row of person.mailLog(db, user_email)) {
      rows++
      yield `${JSON.stringify(row)}\n`
    }
  }
  await archive.stream('logs/mail.ndjson', Readable.from(lines()))
  const sessions = await person.sessions(db, account_id)
  archive.json('logs/sessions.json', sessions)
  const failed = await person.failedLogins(db, user_email)
  archive.json('logs/failed-logins.json', failed)
  return { log_rows: rows, sessions: sessions.length, failed_logins: failed.length }
}

async function addContacts({ db }: Needs, { user_email }: ClaimedExport, archive: ArchiveWriter) {
  const contacts = await person.contacts(db, user_email)
  const lines = contacts.map(({ address, sent, received }) => csvLine([address, sent, received]))
  archive.text('contacts.csv', csvLine(['address', 'sent', 'received']) + lines.join(''))
  archive.json('contacts.json', contacts)
  return contacts.length
}

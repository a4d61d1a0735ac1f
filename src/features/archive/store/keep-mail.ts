import { hostname } from 'node:os'
import type { Core } from '../../../core.ts'
import { aliasTargets } from '../../../hosting/alias-targets.repository.ts'
import { ulid } from '../../../lib/ulid.ts'
import type { MimeMessage } from '../../../mime/message.ts'
import { archiveKeys, type ReadKeys } from '../sealing/keys.ts'
import { hashOf, sealMessage } from '../sealing/sealed-message.ts'
import { openSpool } from '../spool/spool.ts'
import * as archive from './archive.repository.ts'
import * as spools from './spools.repository.ts'

const MAX_SUBJECT = 998
const MAX_MESSAGE_ID = 998
const MEGABYTE = 1024 * 1024
/** Imports leave most of the room of an organization to its live mail. */
const IMPORT_PART = 1 / 4
/** The bytes that wait are summed at most this often; own messages are added meanwhile. */
const MEASURED_MS = 2000

/** A message to archive for one organization. */
export interface Kept {
  organizationId: string
  direction: 'inbound' | 'outbound'
  /** The envelope sender; empty for a bounce. */
  sender: string
  recipients: readonly string[]
  login?: string | null | undefined
  message: MimeMessage
  receivedAt?: Date
  /** Mail that a mailbox has already, which can wait for room. */
  isImport?: true
}

/** The folder has no room for the message. */
export class SpoolFull extends Error {}

/** `off`: the organization or the installation does not archive. */
export type Outcome = { status: 'stored' | 'known'; archiveId: string } | { status: 'off' }

type Needs = Pick<Core, 'config' | 'db' | 'log' | 'now' | 'vault'>

export type KeepMail = ReturnType<typeof keepMail>

/**
 * Archives messages: when `keep` returns, the sealed message is on disk and has a row, so no crash loses
 * it. It is uploaded later, so object storage is never in the way of mail.
 */
export function keepMail(core: Needs) {
  const { config, db, log, now } = core
  const isOn = config.S3_BUCKET !== undefined || config.ARCHIVE_FOLDER !== undefined
  const keys = archiveKeys(core)
  const spool = openSpool(config)
  let used = new Map<string, number>()
  let measuredAt = Number.NEGATIVE_INFINITY

  /** An organization may fill as much as it leaves free, so that none takes the room of all others. */
  async function requireRoom(spoolId: string, organizationId: string, bytes: number, part: number) {
    if (performance.now() - measuredAt > MEASURED_MS) {
      measuredAt = performance.now()
      used = await spools.bytesByOrganization(db, spoolId)
    }
    const waiting = used.get(organizationId) ?? 0
    const own = waiting + bytes
    const all = [...used.values()].reduce((sum, size) => sum + size, bytes)
    const share = config.ARCHIVE_SPOOL_MAX_MB * MEGABYTE - all
    // A single message may need more than its part, and must not wait for ever.
    if (own > share * (waiting === 0 ? 1 : part)) {
      throw new SpoolFull('the archive has no room for messages that wait for their upload')
    }
    used.set(organizationId, own)
  }

  async function keep(kept: Kept): Promise<Outcome> {
    if (!isOn) return { status: 'off' }
    const { organizationId, message } = kept
    const content_hash = await hashOf(message.raw)
    const [{ enabled, archive_id, ...keysRead }, people] = await Promise.all([
      archive.look(db, organizationId, content_hash),
      peopleOf(kept),
    ])
    if (!enabled) return { status: 'off' }
    // Removed again after it was found: it is archived anew below.
    if (archive_id !== null && (await archive.addCopies(db, archive_id, people))) {
      return { status: 'known', archiveId: archive_id }
    }
    return store(kept, { content_hash, keysRead, people })
  }

  interface Prepared {
    content_hash: Buffer
    keysRead: ReadKeys
    people: archive.People
  }

  async function store(kept: Kept, { content_hash, keysRead, people }: Prepared): Promise<Outcome> {
    const { organizationId: organization_id, direction, message, receivedAt = now() } = kept
    const part = kept.isImport ? IMPORT_PART : 1
    const recipients = await keys.recipientsFor(organization_id, keysRead)
    const { sealed, suffix } = await sealMessage(recipients, message.raw)
    const spool_id = await spool.id()
    await requireRoom(spool_id, organization_id, sealed.length, part)
    const id = ulid()
    const storage_key = keyOf(config.ARCHIVE_S3_PREFIX, organization_id, now(), `${id}.${suffix}`)
    await spool.write(storage_key, sealed)
    // After an error the row may be committed all the same, so the file stays; sweeping removes it if not.
    const isNew = await archive.insert(
      db,
      {
        id,
        organization_id,
        content_hash,
        message_id: clean(message.messageId, MAX_MESSAGE_ID),
        sender: people.senders[0] ?? '',
        subject: clean(message.field('subject'), MAX_SUBJECT),
        direction,
        received_at: receivedAt.toISOString(),
        archived_at: now().toISOString(),
        size: message.raw.length,
        stored_size: sealed.length,
        storage_key,
        spool_id,
        sealed_for: recipients.map(({ text }) => text),
      },
      people,
    )
    if (isNew) return { status: 'stored', archiveId: id }
    // Another process archived the same content at the same time.
    await spool.remove(storage_key)
    return keep(kept)
  }

  /** Mail to an alias also concerns the mailboxes behind it: holds and erasures go by mailbox. */
  async function peopleOf(kept: Kept): Promise<archive.People> {
    const { direction, sender, recipients } = kept
    // The login of another tenant is no business of the recipient.
    const login = direction === 'outbound' ? (kept.login ?? '') : ''
    const addresses = [...new Set(recipients.map(normalized))]
    // Aliases of another tenant are a secret of that tenant.
    const targets = await aliasTargets(db, addresses, kept.organizationId)
    const senders = [sender, login.includes('@') ? login : ''].map(normalized)
    return {
      senders: [...new Set(senders)].filter((one) => one !== ''),
      recipients: [...new Set([...addresses, ...[...targets.values()].flat().map(normalized)])],
    }
  }

  return {
    isOn,
    keep,
    /** Counts a message that could not be archived, for the metrics. */
    async countFailure(): Promise<void> {
      try {
        await spools.countFailure(db, await spool.id(), hostname(), now())
      } catch (error) {
        log.warn({ err: error }, 'failure of the archive not counted')
      }
    },
  }
}

/** Nothing about people: the name of an object is visible to the operator of the storage. */
export const keyOf = (prefix: string, organizationId: string, at: Date, name: string): string =>
  [prefix, organizationId, at.toISOString().slice(0, 10).replaceAll('-', '/'), name]
    .filter((part) => part !== '')
    .join('/')

const normalized = (address: string): string => clean(address, 320)?.toLowerCase() ?? ''

/** PostgreSQL stores no zero bytes. */
const clean = (text: string | null | undefined, length: number): string | null =>
  text?.replaceAll('\0', '').toWellFormed().slice(0, length) || null

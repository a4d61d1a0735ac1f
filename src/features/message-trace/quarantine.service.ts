import type { Caller } from '../../access/caller.ts'
import type { Mail } from '../../content/stage.ts'
import type { Core } from '../../core.ts'
import type { Tx } from '../../database/database.ts'
import { isAnyHeld } from '../../hosting/held-mailboxes.repository.ts'
import { readSender } from '../../hosting/senders.ts'
import { suppress } from '../../hosting/suppressions.repository.ts'
import { findDomain } from '../../hosting/tenants.repository.ts'
import type { Slice } from '../../http/paging.ts'
import { type Lease, newLease, releaseLease, underLease } from '../../jobs/lease.ts'
import { domainOf } from '../../lib/mail-address.ts'
import { joined } from '../../lib/shared-bytes.ts'
import { DAY_MS } from '../../lib/time.ts'
import { ulid } from '../../lib/ulid.ts'
import { MimeMessage } from '../../mime/message.ts'
import { archiveReleased } from '../archive/archive-released.ts'
import { applyMail } from '../caldav/scheduling/apply-mail.ts'
import { provenAuthor } from '../caldav/scheduling/proven-author.ts'
import { encryptReleased } from '../encryption/delivery/encrypt-released.ts'
import { protectReleased } from '../url-protection/links/protect-released.ts'
import * as blocks from './blocked-senders.repository.ts'
import {
  BlockedSenderNotFound,
  CannotDecide,
  MessageOnHold,
  MessageRefused,
  QuarantinedMessageNotFound,
} from './message-trace.errors.ts'
import * as quarantine from './quarantine.repository.ts'
import { PURPOSE, storedPieces } from './stored-message.ts'
import { undoBlocks } from './undo-blocks.ts'

const RETENTION_DAYS = 30
/** After a crash the release may be tried again when this time has passed. */
const RELEASE_SECONDS = 60
const PIECE_BYTES = 256 * 1024

export interface Quarantining
  extends Omit<quarantine.NewQuarantined, 'id' | 'expires_at' | 'created_at'> {
  /** The message as it would have been delivered. */
  content: Buffer
}

/** The reason of a stage for holding mail back. */
interface HoldReason
  extends Pick<quarantine.NewQuarantined, 'reason' | 'rule_id' | 'spam_score' | 'virus_name'> {
  /** Shown to the operator as the header `reason`. */
  note?: string | undefined
}

export type QuarantineService = ReturnType<typeof quarantineService>

type Needs = Pick<
  Core,
  'change' | 'config' | 'db' | 'log' | 'now' | 'reinject' | 'vault' | 'workers'
>

export function quarantineService(core: Needs) {
  const { change, db, log, now, reinject, vault } = core
  /** Claims the message, so that no other decision is accepted; returns the row before. */
  const claim = (id: string, lease: Lease) =>
    db.transaction().execute(async (tx) => {
      const row = await quarantine.lock(tx, id)
      if (!row) throw new QuarantinedMessageNotFound()
      refuseDecided(row, ['quarantined', 'deleted'], now())
      await quarantine.claimRelease(tx, id, lease)
      return row
    })

  const deliver = async (row: quarantine.LockedRow) => {
    const pieces: Buffer[] = []
    for await (const piece of storedPieces({ db, vault }, row.id)) pieces.push(piece)
    if (pieces.length === 0) throw new CannotDecide('is no longer stored')
    const { sender, recipient, login, organization_id } = row
    const content = await joined(pieces)
    const message = new MimeMessage(content)
    const host =
      login === null ? undefined : await readSender(db, recipient.toLowerCase(), 'inbound')
    const isFiltered = host !== undefined && host.organizationId !== organization_id
    // Released mail passes no stage of its organization.
    await archiveReleased(core, { ...row, message })
    // The content filter protects the links of what passes it, and encrypts it.
    const parts = isFiltered ? [{ recipient, content }] : await prepared({ ...row, message })
    for (const part of parts) {
      const outcome = await reinject.send({ sender, login, isFiltered, ...part })
      if (!outcome.accepted) throw new MessageRefused(outcome.reply)
    }
    // The content filter applies the invitations in what passes it.
    if (isFiltered || row.author === null || organization_id === null) return
    const mail = { organizationId: organization_id, recipients: [recipient], message }
    await applyMail(core, mail, row.author)
  }

  /** The copies to deliver behind the content filter, made as it would make them. */
  async function prepared(released: quarantine.LockedRow & { message: MimeMessage }) {
    const copies = []
    for (const copy of await protectReleased(core, released)) {
      copies.push(...(await encryptReleased(core, { ...released, ...copy })))
    }
    return copies
  }

  async function hold(tx: Tx, { content, ...row }: Quarantining): Promise<string> {
    const id = ulid()
    const at = now()
    const expires_at = new Date(at.getTime() + RETENTION_DAYS * DAY_MS).toISOString()
    await quarantine.insert(tx, { ...row, id, expires_at, created_at: at.toISOString() })
    let piece = 0
    do {
      const from = piece * PIECE_BYTES
      // latin1 keeps every byte: a message may not be valid UTF-8.
      const text = content.toString('latin1', from, from + PIECE_BYTES)
      await quarantine.insertPiece(tx, id, piece++, vault.seal(PURPOSE, text))
    } while (piece * PIECE_BYTES < content.length)
    return id
  }

  return {
    hold,

    /** Stores one entry for each recipient, so that each can be released alone. */
    async holdMail(tx: Tx, mail: Mail, { note, ...why }: HoldReason): Promise<void> {
      const { message, organizationId, recipients, sender } = mail
      const author = (await provenAuthor(tx, mail)) ?? null
      for (const recipient of recipients) {
        await hold(tx, {
          organization_id: organizationId,
          message_id: message.messageId,
          queue_id: null,
          sender,
          // Mail of another tenant has its login too, and comes in.
          login: mail.direction === 'outbound' ? (mail.login ?? null) : null,
          recipient,
          author,
          subject: message.field('subject')?.slice(0, 1000) ?? null,
          headers: { ...shownHeaders(message), ...(note !== undefined && { reason: note }) },
          content: message.raw,
          ...why,
        })
      }
    },

    async list(filter: quarantine.QuarantineFilter, { limit, offset }: Slice) {
      const { rows, total } = await quarantine.list(db, filter, { limit, offset })
      return { messages: rows.map(withThreat), total, limit, offset }
    },

    /** Delivers the message, then marks it as released and undoes an earlier block. */
    async release(caller: Caller, id: string) {
      reinject.check()
      const lease = newLease(RELEASE_SECONDS)
      const row = await claim(id, lease)
      try {
        await underLease({ db, log }, 'quarantine', { id }, lease, () => deliver(row))
      } catch (error) {
        await releaseLease(db, 'quarantine', { id }, lease)
        throw error
      }
      return change(caller, async (tx) => {
        const at = now()
        if (row.status === 'deleted') await undoBlocks(tx, { quarantine_id: id }, now())
        const released = await quarantine.finishRelease(tx, id, lease, {
          released_by: caller.email ?? caller.id,
          released_at: at.toISOString(),
        })
        if (!released) throw new CannotDecide('was released by another request')
        return withThreat(released)
      })
    },

    /** Deletes the message and nothing else. */
    delete: (caller: Caller, id: string) =>
      change(caller, async (tx) => {
        const row = await quarantine.lock(tx, id)
        if (!row) throw new QuarantinedMessageNotFound()
        refuseDecided(row, ['quarantined'], now())
        await refuseHeld(tx, row, now())
        return withThreat(await quarantine.update(tx, id, { status: 'deleted' }))
      }),

    async listBlocks(filter: blocks.BlockFilter, { limit, offset }: Slice) {
      const { rows, total } = await blocks.list(db, filter, { limit, offset })
      return { blocked_senders: rows, total, limit, offset }
    },

    /** Accepts mail of a blocked sender again; lifts the suppression that came with the block. */
    unblock: (caller: Caller, blockId: string) =>
      change(caller, async (tx) => {
        const [removed] = await undoBlocks(tx, { id: blockId }, now())
        if (!removed) throw new BlockedSenderNotFound()
        return removed
      }),

    /**
     * Deletes the message, blocks its sender and suppresses mail to that address. The sender of
     * outgoing mail is a user of the organization, who is not blocked.
     */
    block: (caller: Caller, id: string, reason: string) =>
      change(caller, async (tx) => {
        const row = await quarantine.lock(tx, id)
        if (!row) throw new QuarantinedMessageNotFound()
        const at = now()
        refuseDecided(row, ['quarantined'], at)
        await refuseHeld(tx, row, at)
        const { organization_id, sender } = row
        const sender_blocked = organization_id !== null && sender !== '' && row.login === null
        if (sender_blocked) {
          await blocks.insert(tx, {
            id: ulid(),
            organization_id,
            sender: sender.toLowerCase(),
            reason,
            quarantine_id: id,
            created_by: caller.email ?? caller.id,
            created_at: at.toISOString(),
          })
          const suppressed = { email: sender, organization_id, reason, source: 'quarantine' }
          // A forged sender may be the address of a colleague.
          const isOwn = await findDomain(tx, organization_id, { name: domainOf(sender) })
          if (!isOwn) await suppress(tx, 'MANUAL', [suppressed], at)
        }
        const deleted = await quarantine.update(tx, id, { status: 'deleted' })
        return { ...withThreat(deleted), sender_blocked }
      }),
  }
}

const SHOWN_HEADERS = `from to cc subject date message-id reply-to received
  x-spam x-spamd-result x-spam-status`.split(/\s+/)

/** Headers that help the operator decide. The first field of a name was added by the nearest server. */
const shownHeaders = (message: MimeMessage): Record<string, string> =>
  Object.fromEntries(
    SHOWN_HEADERS.flatMap((name) => {
      const value = message.field(name)
      return value === undefined ? [] : [[name, value.slice(0, 2000)]]
    }),
  )

function refuseDecided(
  row: { status: quarantine.QuarantineStatus; is_free: boolean; expires_at: string },
  allowed: quarantine.QuarantineStatus[],
  now: Date,
): void {
  if (!allowed.includes(row.status)) {
    throw new CannotDecide(`is already ${row.status}`)
  }
  if (new Date(row.expires_at) <= now) throw new CannotDecide('has expired')
  if (!row.is_free) throw new CannotDecide('is being released')
}

async function refuseHeld(tx: Tx, row: quarantine.LockedRow, now: Date): Promise<void> {
  if (row.organization_id === null) return
  const addresses = [row.sender, row.recipient, row.author, row.login].flatMap(
    (address) => address?.toLowerCase() ?? [],
  )
  if (await isAnyHeld(tx, row.organization_id, addresses, now)) throw new MessageOnHold()
}

type ThreatLevel = 'low' | 'medium' | 'high' | 'critical'

interface Threat {
  virus_name: string | null
  spam_score: number | null
  reason: string
}

const withThreat = <Row extends Threat>(row: Row) => ({ ...row, threat_level: threatOf(row) })

function threatOf({ virus_name, spam_score, reason }: Threat): ThreatLevel {
  if (virus_name !== null || reason === 'virus') return 'critical'
  if ((spam_score ?? 0) >= 15) return 'high'
  return (spam_score ?? 0) >= 10 ? 'medium' : 'low'
}

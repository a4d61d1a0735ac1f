import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import type { Tx } from '../../database/database.ts'
import type { Slice } from '../../http/paging.ts'
import { ulid } from '../../lib/ulid.ts'
import { lift, suppress } from '../suppressions/suppressions.repository.ts'
import { CannotDecide, MessageRefused, QuarantinedMessageNotFound } from './message-trace.errors.ts'
import * as quarantine from './quarantine.repository.ts'

const KEPT_DAYS = 30
const DAY_MS = 24 * 60 * 60 * 1000
/** A release that takes longer has died with its process. */
const RELEASE_MS = 60_000
const PURPOSE = 'quarantine'

export interface Quarantining
  extends Omit<quarantine.NewQuarantined, 'id' | 'expires_at' | 'created_at'> {
  /** The message as it would have been delivered. */
  content: Buffer
}

export type QuarantineService = ReturnType<typeof quarantineService>

export function quarantineService({
  change,
  db,
  now,
  reinject,
  vault,
}: Pick<Core, 'change' | 'db' | 'now' | 'reinject' | 'vault'>) {
  /** Nobody else may decide meanwhile; answers the row as it was. */
  const claim = (id: string) =>
    db.transaction().execute(async (tx) => {
      const row = await quarantine.lock(tx, id)
      if (!row) throw new QuarantinedMessageNotFound()
      const at = now()
      refuseDecided(row, ['quarantined', 'deleted'], at)
      await quarantine.update(tx, id, { release_begun_at: at.toISOString() })
      return row
    })

  const deliver = async (row: quarantine.QuarantineRow) => {
    const sealed = await quarantine.contentOf(db, row.id)
    if (!sealed) throw new CannotDecide('is no longer stored')
    const content = Buffer.from(vault.open(PURPOSE, sealed), 'latin1')
    const outcome = await reinject.send(row.sender, [row.recipient], content)
    if (!outcome.accepted) throw new MessageRefused(outcome.reply)
  }

  return {
    /** For whoever holds a message back: part of the transaction that decides so. */
    async hold(tx: Tx, { content, ...row }: Quarantining): Promise<string> {
      const id = ulid()
      const at = now()
      const expires_at = new Date(at.getTime() + KEPT_DAYS * DAY_MS).toISOString()
      // Bytes, one character each: a message need not be UTF-8.
      const sealed = vault.seal(PURPOSE, content.toString('latin1'))
      const stored = { ...row, id, expires_at, created_at: at.toISOString() }
      await quarantine.insert(tx, stored, sealed)
      return id
    },

    async list(filter: quarantine.QuarantineFilter, { limit, offset }: Slice) {
      const { rows, total } = await quarantine.list(db, filter, { limit, offset })
      return { messages: rows.map(withThreat), total, limit, offset }
    },

    /** Delivers the message, and only then says so; what blocking it had brought about is undone. */
    async release(caller: Caller, id: string) {
      reinject.check()
      const row = await claim(id)
      try {
        await deliver(row)
      } catch (error) {
        await db
          .transaction()
          .execute((tx) => quarantine.update(tx, id, { release_begun_at: null }))
        throw error
      }
      return change(caller, async (tx) => {
        const at = now()
        if (row.status === 'deleted' && (await quarantine.unblockSender(tx, id))) {
          await lift(tx, row.sender, row.organization_id ?? '', at, 'MANUAL')
        }
        const released = await quarantine.update(tx, id, {
          status: 'released',
          released_by: caller.email ?? caller.id,
          released_at: at.toISOString(),
          release_begun_at: null,
        })
        return withThreat(released)
      })
    },

    /** The message goes, and so will every other of its sender: none comes in, none is answered. */
    block: (caller: Caller, id: string, reason: string) =>
      change(caller, async (tx) => {
        const row = await quarantine.lock(tx, id)
        if (!row) throw new QuarantinedMessageNotFound()
        const at = now()
        refuseDecided(row, ['quarantined'], at)
        const { organization_id, sender } = row
        const sender_blocked = organization_id !== null && sender !== ''
        if (sender_blocked) {
          await quarantine.blockSender(tx, {
            id: ulid(),
            organization_id,
            sender: sender.toLowerCase(),
            reason,
            quarantine_id: id,
            created_by: caller.email ?? caller.id,
            created_at: at.toISOString(),
          })
          const suppressed = { email: sender, organization_id, reason, source: 'quarantine' }
          await suppress(tx, 'MANUAL', [suppressed], at)
        }
        const deleted = await quarantine.update(tx, id, { status: 'deleted' })
        return { ...withThreat(deleted), sender_blocked }
      }),
  }
}

function refuseDecided(
  row: { status: quarantine.QuarantineStatus; release_begun_at: string | null; expires_at: string },
  wanted: quarantine.QuarantineStatus[],
  now: Date,
): void {
  if (!wanted.includes(row.status)) {
    throw new CannotDecide(`is already ${row.status === 'deleted' ? 'blocked' : row.status}`)
  }
  if (new Date(row.expires_at) <= now) throw new CannotDecide('has expired')
  const begun = row.release_begun_at
  if (begun !== null && now.getTime() - new Date(begun).getTime() < RELEASE_MS) {
    throw new CannotDecide('is being released')
  }
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

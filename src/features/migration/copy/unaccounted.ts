import { createHash } from 'node:crypto'
import type { ImapFlow } from 'imapflow'
import { connectWire } from '../../../mail/imap/connect.ts'
import { examine, fetchPieces } from '../../../mail/imap/messages.ts'
import * as copied from './copied.repository.ts'
import type { Wanted } from './load.ts'
import { flagsOf, type Run } from './run.ts'

interface Candidate {
  uid: number
  flags: string[]
  second: number
  /** The source has a message of this size and date, so this is the copy of that message. */
  isDated?: boolean
  hash?: string
}

export interface Unaccounted {
  /** Finds copies of these messages at the target. Each copy is returned once. */
  take(messages: readonly Wanted[]): Promise<Map<number, Candidate>>
  close(): void
}

interface Names {
  pairId: string
  targetPath: string
  sourceName: string
  targetName: string
  floor: number
}

/**
 * Messages at the target that are not recorded, because a run was killed after the target had stored
 * them. They are matched by size and content, so that no message is copied twice and every message of
 * several identical ones is copied.
 */
export async function unaccounted(
  run: Run,
  source: ImapFlow,
  target: ImapFlow,
  { pairId, targetPath, sourceName, targetName, floor }: Names,
): Promise<Unaccounted> {
  const bySize = new Map<number, Candidate[]>()
  const { uidNext } = await target.mailboxOpen(targetPath, { readOnly: true })
  if (uidNext > floor) {
    const known = await copied.knownTargets(run.core.db, pairId, targetPath, floor)
    const query = { uid: true, size: true, flags: true, internalDate: true } as const
    for await (const one of target.fetch(`${floor}:*`, query, { uid: true })) {
      // `9:*` returns the last message even if its UID is 5.
      if (one.uid < floor || known.has(one.uid) || one.size === undefined) continue
      const same = bySize.get(one.size) ?? []
      const second = secondOf(new Date(one.internalDate ?? Number.NaN))
      bySize.set(one.size, [...same, { uid: one.uid, flags: flagsOf(one.flags), second }])
    }
  }

  // `take` sees one window after the other, so the dates of the whole folder are compared first.
  if (bySize.size > 0 && source.mailbox && source.mailbox.exists > 0) {
    for await (const one of source.fetch('1:*', { size: true, internalDate: true })) {
      const second = secondOf(new Date(one.internalDate ?? Number.NaN))
      for (const candidate of bySize.get(one.size ?? 0) ?? []) {
        candidate.isDated ||= candidate.second === second
      }
    }
  }

  let wires: { source: Link; target: Link } | undefined
  type Link = Awaited<ReturnType<typeof connectWire>>
  async function connected() {
    if (wires) return wires
    wires = {
      source: await connectWire(run.source, run.signal),
      target: await connectWire(run.target, run.signal),
    }
    await examine(wires.source, sourceName)
    await examine(wires.target, targetName)
    return wires
  }

  const hashes = new Map<number, string>()
  async function match(message: Wanted, isLike: (one: Candidate) => boolean) {
    const candidates = bySize.get(message.size) ?? []
    if (!candidates.some(isLike)) return undefined
    const { source: here, target: there } = await connected()
    const hash = hashes.get(message.uid) ?? (await hashOf(here, message.uid))
    hashes.set(message.uid, hash)
    for (const [index, candidate] of candidates.entries()) {
      if (!isLike(candidate)) continue
      candidate.hash ??= await hashOf(there, candidate.uid)
      if (candidate.hash !== hash) continue
      candidates.splice(index, 1)
      return candidate
    }
    return undefined
  }

  return {
    async take(messages) {
      const copies = new Map<number, Candidate>()
      const search = async (isLike: (message: Wanted, one: Candidate) => boolean) => {
        for (const message of messages) {
          if (copies.has(message.uid)) continue
          const candidate = await match(message, (one) => isLike(message, one))
          if (candidate) copies.set(message.uid, candidate)
        }
      }
      // Identical messages are matched by date first. Some servers do not keep dates.
      await search(({ date }, { second }) => second === secondOf(date))
      await search((_, { isDated }) => !isDated)
      hashes.clear()
      return copies
    },
    close() {
      wires?.source.close()
      wires?.target.close()
    },
  }
}

const secondOf = (date: Date) => Math.floor(date.getTime() / 1000)

async function hashOf(wire: Awaited<ReturnType<typeof connectWire>>, uid: number) {
  const hash = createHash('sha256')
  for await (const piece of fetchPieces(wire, uid)) hash.update(piece)
  return hash.digest('hex')
}

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
  hash?: string
}

export interface Unaccounted {
  /** The copy of this message that is at the target already, and is nobody else's from now on. */
  take(message: Wanted): Promise<Candidate | undefined>
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
 * Messages at the target that nobody has written down: a run was killed after the target had them and
 * before the database knew. They are told from other mail by size and content, so that a message is
 * neither copied twice nor, with a twin of it about, left behind.
 */
export async function unaccounted(
  run: Run,
  target: ImapFlow,
  { pairId, targetPath, sourceName, targetName, floor }: Names,
): Promise<Unaccounted> {
  const bySize = new Map<number, Candidate[]>()
  const { uidNext } = await target.mailboxOpen(targetPath, { readOnly: true })
  if (uidNext > floor) {
    const known = await copied.knownTargets(run.core.db, pairId, targetPath, floor)
    const query = { uid: true, size: true, flags: true } as const
    for await (const one of target.fetch(`${floor}:*`, query, { uid: true })) {
      // `9:*` is the last message also when its number is 5.
      if (one.uid < floor || known.has(one.uid) || one.size === undefined) continue
      const same = bySize.get(one.size) ?? []
      bySize.set(one.size, [...same, { uid: one.uid, flags: flagsOf(one.flags) }])
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

  return {
    async take(message) {
      const candidates = bySize.get(message.size)
      if (!candidates?.length) return undefined
      const { source, target: there } = await connected()
      const wanted = await hashOf(source, message.uid)
      for (const [index, candidate] of candidates.entries()) {
        candidate.hash ??= await hashOf(there, candidate.uid)
        if (candidate.hash !== wanted) continue
        candidates.splice(index, 1)
        return candidate
      }
      return undefined
    },
    close() {
      wires?.source.close()
      wires?.target.close()
    },
  }
}

async function hashOf(wire: Awaited<ReturnType<typeof connectWire>>, uid: number) {
  const hash = createHash('sha256')
  for await (const piece of fetchPieces(wire, uid)) hash.update(piece)
  return hash.digest('hex')
}

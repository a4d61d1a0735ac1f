import { ConnectionFailed, connectWire } from '../../../mail/imap/connect.ts'
import { examine } from '../../../mail/imap/messages.ts'
import { Refused, WireBroken } from '../../../mail/imap/wire.ts'
import { type Loaded, load, type Wanted } from './load.ts'
import { recordCopies, recordFailure } from './outcome.ts'
import { type Run, Stopped, suspectKey } from './run.ts'
import { slabs } from './slabs.ts'
import { store } from './store.ts'

/** A folder that is being copied, with its names as the servers encode them. */
interface OpenFolder {
  id: number
  source_path: string
  source_validity: number
  sourceName: string
  targetName: string
}

type Link = Awaited<ReturnType<typeof connectWire>>
interface Lane {
  source: Link
  target: Link
  examined: string | undefined
}

export type Lanes = ReturnType<typeof lanes>

/** Pairs of connections that copy messages in parallel. */
export function lanes(run: Run, count: number) {
  const open: Lane[] = []
  const { config } = run.core
  const spool = {
    folder: `${config.DATA_DIR}/migration`,
    maxBytes: config.MIGRATION_MAX_MESSAGE_MB * 1024 * 1024,
    slabs: slabs(),
  }

  async function openLane(): Promise<void> {
    const [source, target] = await Promise.allSettled([
      connectWire(run.source, run.signal),
      connectWire(run.target, run.cut),
    ])
    if (source.status === 'fulfilled' && target.status === 'fulfilled') {
      open.push({ source: source.value, target: target.value, examined: undefined })
      return
    }
    for (const one of [source, target]) if (one.status === 'fulfilled') one.value.close()
    throw source.status === 'rejected' ? source.reason : (target as PromiseRejectedResult).reason
  }

  /** The first pair is required. Further ones are optional, as servers may limit connections. */
  async function openAll(): Promise<void> {
    if (open.length === 0) await openLane()
    const missing = Array.from({ length: count - open.length }, () => openLane())
    await Promise.allSettled(missing)
  }

  function close() {
    for (const { source, target } of open.splice(0)) {
      source.close()
      target.close()
    }
  }

  async function next(lane: Lane, folder: OpenFolder, chunks: AsyncIterator<Wanted[]>) {
    const { value, done } = await chunks.next()
    if (done) return undefined
    const chunk = value as Wanted[]
    try {
      if (lane.examined !== folder.sourceName) {
        const validity = await examine(lane.source, folder.sourceName)
        // The folder was replaced: its UIDs now mean other messages.
        if (validity !== folder.source_validity)
          throw new ConnectionFailed('the folder was replaced')
        lane.examined = folder.sourceName
      }
      return { chunk, loaded: await load(lane.source, chunk, spool) }
    } catch (error) {
      throw blamed(run, folder, chunk, error)
    }
  }

  async function keep(lane: Lane, folder: OpenFolder, chunk: Wanted[], loaded: Loaded) {
    try {
      if (run.signal.aborted || !run.isOurs()) throw new Stopped()
      const { copies, failed } = await store(lane.target, folder.targetName, loaded.messages)
      const flags = new Map(loaded.messages.map((one) => [one.uid, one.flags.join(' ')]))
      await recordCopies(
        run,
        folder,
        copies.map(({ uid, targetUid }) => ({
          source_uid: uid,
          target_uid: targetUid,
          flags: flags.get(uid) ?? '',
        })),
      )
      for (const one of [...loaded.failed, ...failed]) {
        await recordFailure(run, folder.source_path, one)
      }
      loaded.release?.()
    } catch (error) {
      throw blamed(run, folder, chunk, error)
    } finally {
      await loaded.close()
    }
  }

  /** Fetches the next messages while the last ones are stored. */
  async function work(lane: Lane, folder: OpenFolder, chunks: AsyncIterator<Wanted[]>) {
    let ahead = next(lane, folder, chunks)
    for (;;) {
      const current = await ahead
      if (!current) return
      ahead = next(lane, folder, chunks)
      // A rejection is handled where `ahead` is awaited.
      ahead.catch(() => {})
      try {
        await keep(lane, folder, current.chunk, current.loaded)
      } catch (error) {
        lane.source.close()
        await ahead.then((later) => later?.loaded.close()).catch(() => {})
        throw error
      }
    }
  }

  return {
    /** Copies all messages of a folder; stops all lanes when a connection breaks. */
    async copy(folder: OpenFolder, chunks: AsyncGenerator<Wanted[]>): Promise<void> {
      const first = await chunks.next()
      if (first.done) return
      await openAll()
      const all = prepended(first.value, chunks)
      let failure: unknown
      await Promise.all(
        open.slice().map((lane) =>
          work(lane, folder, all).catch((error) => {
            failure ??= error
            // On a stop, the other lanes finish their messages, which a later run would have to search.
            if (!run.signal.aborted && !(error instanceof Stopped)) close()
          }),
        ),
      )
      await chunks.return(undefined)
      if (failure !== undefined) throw failure
    },
    close,
  }
}

/** Marks the messages of a broken connection as suspects, which are then copied one by one. */
function blamed(run: Run, folder: OpenFolder, chunk: Wanted[], error: unknown): unknown {
  if (!(error instanceof WireBroken)) return error instanceof Refused ? broken(error) : error
  if (run.signal.aborted) return new Stopped()
  if (error.message !== 'closed') {
    if (chunk.length === 1) run.singledOut++
    for (const { uid } of chunk) {
      const key = suspectKey(folder.source_path, uid)
      run.suspects.set(key, (run.suspects.get(key) ?? 0) + 1)
    }
  }
  return broken(error)
}

const broken = ({ message }: Error) => new ConnectionFailed(`A connection broke: ${message}`)

async function* prepended<Item>(first: Item, rest: AsyncGenerator<Item>): AsyncGenerator<Item> {
  yield first
  yield* rest
}

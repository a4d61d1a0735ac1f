import { held, type Line, newLine, takeNext } from './endpoint-line.ts'
import type { Job } from './queue.repository.ts'

interface Limits {
  /** Attempts under way to all endpoints together. */
  workers: number
  /** Attempts under way to one endpoint. */
  perEndpoint: number
  /** From here on an attempt counts as slow. */
  slowMs: number
}

/**
 * What is held in memory for endpoints: a line for each, served in turn. An endpoint has a limit of
 * its own, and those that were slow the last time have half of the workers between them, so that
 * however many hang, there is always somebody free for the others.
 */
export function endpointSet(limits: Limits, work: (job: Job) => Promise<void>) {
  const known = new Set<number>()
  const lines = new Map<string, Line>()
  // Kept without a line too: whoever gets little would look quick every time.
  const slow = new Set<string>()
  // Lines that may have something to start, the one that waited longest first.
  const ready = { quick: new Set<Line>(), slow: new Set<Line>() }
  const active = { quick: 0, slow: 0 }
  const slowWorkers = Math.max(1, Math.floor(limits.workers / 2))
  let refillBelow = limits.perEndpoint
  let tellRoom = () => {}
  let waitingForIdle: (() => void)[] = []

  const readyOf = ({ isSlow }: Line) => (isSlow ? ready.slow : ready.quick)

  function serve(lineup: Set<Line>, isFree: () => boolean): void {
    for (const line of lineup) {
      if (!isFree()) return
      lineup.delete(line)
      const job = line.active < limits.perEndpoint ? takeNext(line) : undefined
      if (!job) continue
      // To the end of the line-up: the others come first now. The loop will come by again.
      lineup.add(line)
      start(line, job)
    }
  }

  function pump(): void {
    serve(ready.quick, () => active.quick + active.slow < limits.workers)
    serve(
      ready.slow,
      () => active.slow < slowWorkers && active.quick + active.slow < limits.workers,
    )
  }

  function start(line: Line, job: Job): void {
    let kind: 'quick' | 'slow' = line.isSlow ? 'slow' : 'quick'
    const ordered = job.attempts === 0
    active[kind]++
    line.active++
    if (ordered) line.busySubjects.add(job.subject)
    let isSlow = false
    // At once and not at its end, or the others of its kind would take the workers meanwhile.
    const timer = setTimeout(() => {
      isSlow = true
      active[kind]--
      kind = 'slow'
      active[kind]++
      mark(line, isSlow)
    }, limits.slowMs)
    work(job)
      .catch(() => {})
      .finally(() => {
        clearTimeout(timer)
        active[kind]--
        line.active--
        known.delete(job.id)
        if (ordered) line.busySubjects.delete(job.subject)
        mark(line, isSlow)
        settle(line)
        pump()
        if (active.quick + active.slow > 0) return
        for (const tell of waitingForIdle) tell()
        waitingForIdle = []
      })
  }

  function mark(line: Line, isSlow: boolean): void {
    const wasReady = readyOf(line).delete(line)
    line.isSlow = isSlow
    if (wasReady) readyOf(line).add(line)
    if (isSlow) slow.add(line.endpointId)
    else slow.delete(line.endpointId)
  }

  function settle(line: Line): void {
    if (held(line) > 0) readyOf(line).add(line)
    else if (lines.get(line.endpointId) === line) lines.delete(line.endpointId)
    if (line.mayHaveMore && held(line) < refillBelow) {
      line.mayHaveMore = false
      tellRoom()
    }
  }

  function forget(line: Line): void {
    for (const { id } of [...line.first.splice(0), ...line.retries.splice(0)]) known.delete(id)
    line.mayHaveMore = false
    if (line.active === 0) lines.delete(line.endpointId)
  }

  return {
    has: (id: number) => known.has(id),
    busyLanes: () => [...lines.values()].filter((line) => line.active > 0).map(({ lane }) => lane),
    get endpoints() {
      return [...lines.keys()]
    },
    /** Those that hold enough for now. */
    full(enough: number): string[] {
      refillBelow = enough
      return [...lines.values()]
        .filter((line) => held(line) >= enough)
        .map(({ endpointId }) => endpointId)
    },
    add(jobs: Job[], mayHaveMore: ReadonlySet<string>) {
      for (const job of jobs) {
        const { id, lane, endpointId, attempts } = job
        if (endpointId === null || known.has(id)) continue
        const line = lines.get(endpointId) ?? newLine(endpointId, lane, slow.has(endpointId))
        lines.set(endpointId, line)
        known.add(id)
        if (attempts > 0) line.retries.push(job)
        else line.first.push(job)
        line.mayHaveMore = mayHaveMore.has(endpointId)
        readyOf(line).add(line)
      }
      pump()
    },
    /** Lanes that are another daemon's now are forgotten; what is under way ends. */
    keepOnly(owned: ReadonlySet<number>) {
      for (const line of lines.values()) if (!owned.has(line.lane)) forget(line)
    },
    drop(endpointIds: readonly string[]) {
      for (const id of endpointIds) {
        const line = lines.get(id)
        if (line) forget(line)
        slow.delete(id)
      }
    },
    onRoom(tell: () => void) {
      tellRoom = tell
    },
    /** Starts nothing more and waits for what is under way. */
    async idle() {
      for (const line of lines.values()) forget(line)
      if (active.quick + active.slow === 0) return
      await new Promise<void>((resolve) => waitingForIdle.push(resolve))
    },
  }
}

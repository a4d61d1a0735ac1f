import { describe, expect, it } from 'vitest'
import type { Job } from './queue.repository.ts'
import { type Limits, WorkingSet } from './working-set.ts'

const NO_MORE: ReadonlySet<string | null> = new Set()
let lastId = 0

const job = (endpointId: string | null, subject: number, attempts = 0): Job => ({
  id: ++lastId,
  lane: subject,
  endpointId,
  subject,
  attempts,
  event: {
    id: String(lastId),
    event: 'domain.added',
    source: 'api',
    org_id: null,
    domain: null,
    tags: [],
    user_variables: {},
    data: {},
    metadata: {},
    created_at: '2026-11-15T09:00:00.000Z',
  },
})

function setOf(limits: Partial<Limits>, jobs: Job[], mayHaveMore = NO_MORE): WorkingSet {
  const set = new WorkingSet({ workers: 100, slowWorkers: 50, perReceiver: 100, ...limits })
  set.capacity = 4
  set.add(jobs, mayHaveMore)
  return set
}

function takeAll(set: WorkingSet): Job[] {
  const taken: Job[] = []
  for (let next = set.next(); next; next = set.next()) taken.push(next)
  return taken
}

describe('the working set of the delivery engine', () => {
  it('starts one first attempt per subject and receiver at a time, oldest first', () => {
    const [one, two, other] = [job('a', 1), job('a', 1), job('b', 1)]
    const set = setOf({}, [one, two, other])
    expect(takeAll(set)).toEqual([one, other])
    set.answered(one)
    expect(takeAll(set)).toEqual([two])
  })

  it('serves receivers in turn, however many jobs one of them has', () => {
    const many = Array.from({ length: 5 }, (_, subject) => job('a', subject))
    const few = job('b', 0)
    const taken = takeAll(setOf({}, [...many, few]))
    expect(taken.indexOf(few)).toBe(1)
  })

  it('serves the subjects of a receiver in turn', () => {
    const many = Array.from({ length: 3 }, () => job(null, 1))
    const other = job(null, 2)
    const set = setOf({ workers: 1 }, [...many, other])
    const first = set.next() as Job
    set.finished(first)
    expect(set.next()).toBe(other)
  })

  it('alternates between first attempts and retries of a receiver', () => {
    const first = Array.from({ length: 3 }, (_, subject) => job('a', subject))
    const retries = Array.from({ length: 3 }, () => job('a', 9, 1))
    const taken = takeAll(setOf({}, [...first, ...retries]))
    expect(taken.map(({ attempts }) => attempts)).toEqual([0, 1, 0, 1, 0, 1])
  })

  it('limits the attempts in progress, in total and per receiver', () => {
    const jobs = ['a', 'b', 'c'].flatMap((id) => [job(id, 1), job(id, 2), job(id, 3)])
    expect(takeAll(setOf({ workers: 4 }, jobs))).toHaveLength(4)
    const perReceiver = takeAll(setOf({ perReceiver: 2 }, jobs))
    expect(perReceiver.filter(({ endpointId }) => endpointId === 'a')).toHaveLength(2)
    expect(perReceiver).toHaveLength(6)
  })

  it('stops when twice as many attempts as workers are not recorded', () => {
    const set = setOf(
      { workers: 2 },
      Array.from({ length: 9 }, (_, subject) => job(null, subject)),
    )
    const started: Job[] = []
    for (let next = set.next(); next; next = set.next()) {
      started.push(next)
      set.answered(next)
    }
    expect(started).toHaveLength(4)
    set.finished(started[0] as Job)
    expect(set.next()).toBeDefined()
  })

  it('leaves workers free while attempts to slow receivers are in progress', () => {
    const slow = ['a', 'b', 'c'].map((id) => job(id, 1))
    const set = setOf({ workers: 4, slowWorkers: 2 }, slow)
    for (const started of takeAll(set)) {
      set.markSlow(started)
      set.finished(started)
    }
    set.add([...['a', 'b', 'c'].map((id) => job(id, 1)), job('quick', 1)], NO_MORE)
    const ids = takeAll(set).map(({ endpointId }) => endpointId)
    expect(ids).toEqual(['a', 'b', 'quick'])
  })

  it('frees the worker of an attempt once, and ignores a late report that it is slow', () => {
    const set = setOf(
      { workers: 2 },
      [1, 2, 3, 4].map((subject) => job('a', subject)),
    )
    const [first = job(null, 0)] = takeAll(set)
    set.answered(first)
    set.markSlow(first)
    set.finished(first)
    expect(takeAll(set)).toHaveLength(1)
  })

  it('treats a receiver as fast again after a fast answer', () => {
    const set = setOf({ slowWorkers: 0 }, [job('a', 1)])
    const slow = set.next() as Job
    set.markSlow(slow)
    const other = job('a', 2)
    set.add([other], NO_MORE)
    expect(set.next()).toBeUndefined()
    set.finished(slow)
    expect(set.next()).toBeUndefined()

    const fast = setOf({ slowWorkers: 1 }, [job('a', 1)])
    const first = fast.next() as Job
    fast.markSlow(first)
    fast.finished(first)
    fast.add([job('a', 1)], NO_MORE)
    fast.finished(fast.next() as Job)
    fast.add([job('a', 1), job('a', 2)], NO_MORE)
    expect(takeAll(fast)).toHaveLength(2)
  })

  it('asks for more when a receiver runs low and the database may have more', () => {
    const jobs = [job('a', 1), job('a', 2), job('a', 3)]
    const set = setOf({}, jobs, new Set(['a']))
    expect(set.isFull('a')).toBe(true)
    const answers = takeAll(set).map((started) => set.finished(started))
    expect(answers).toEqual([false, true, false])
    expect(set.isFull('a')).toBe(false)
    expect(set.receivers).toEqual([])
  })

  it('forgets the waiting jobs of lanes that another daemon has leased', () => {
    const [started, kept, gone] = [job('a', 1), job('a', 2), job('a', 3)]
    const set = setOf({ perReceiver: 1 }, [started, kept, gone])
    expect(set.next()).toBe(started)
    set.forget(({ lane }) => lane === 3)
    expect([started, kept, gone].map(({ id }) => set.has(id))).toEqual([true, true, false])
    expect(set.busyLanes()).toEqual([1])
    set.finished(started)
    expect(takeAll(set)).toEqual([kept])
  })

  it('does not add a job that it holds already', () => {
    const one = job('a', 1)
    const set = setOf({}, [one])
    expect(takeAll(set)).toEqual([one])
    set.add([one], NO_MORE)
    expect(takeAll(set)).toEqual([])
  })
})

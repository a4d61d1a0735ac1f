import { DAY_MS } from '../../../lib/time.ts'

const FIRST_DAY = 50

export interface Schedule {
  ip_address: string
  /** Null: it sends for every organization without a schedule of its own. */
  organization_id: string | null
  target_daily_volume: number
  warmup_days: number
  started_at: string
  /** The step of this time stays. */
  paused_at: string | null
}

const day = (time: number) => Math.floor(time / DAY_MS)

type Days = Pick<Schedule, 'started_at' | 'paused_at'>

/** The current day of a schedule, from 1, in UTC. */
export function dayOf({ started_at, paused_at }: Days, now: Date): number {
  const at = paused_at === null ? now.getTime() : Date.parse(paused_at)
  return Math.max(1, day(at) - day(Date.parse(started_at)) + 1)
}

/** The beginning with which a schedule goes on at the day on which it was paused. */
export const startAfterPause = ({ started_at, paused_at }: Days, now: Date): string => {
  const days = paused_at === null ? 0 : day(now.getTime()) - day(Date.parse(paused_at))
  return new Date(Date.parse(started_at) + days * DAY_MS).toISOString()
}

export const isCompleted = (schedule: Schedule, now: Date): boolean =>
  dayOf(schedule, now) > schedule.warmup_days

/** Grows by the same factor every day, from 50 messages to the target on the last day. */
function limitOn(
  { target_daily_volume: target, warmup_days: days }: Schedule,
  day: number,
): number {
  if (day >= days) return target
  const first = Math.min(FIRST_DAY, target)
  return Math.round(first * (target / first) ** ((day - 1) / (days - 1)))
}

export function stageOf(schedule: Schedule, now: Date) {
  const current = dayOf(schedule, now)
  const completed = isCompleted(schedule, now)
  return {
    day: current,
    completed,
    stage: completed ? 'completed' : `day ${current}`,
    today_limit: limitOn(schedule, current),
  }
}

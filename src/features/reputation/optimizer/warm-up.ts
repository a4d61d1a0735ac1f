const DAY_MS = 24 * 60 * 60 * 1000
const FIRST_DAY = 50

export interface Schedule {
  ip_address: string
  organization_id: string
  target_daily_volume: number
  warmup_days: number
  started_at: string
}

/** The day of a schedule that it is, from 1; days are those of UTC. */
export function dayOf({ started_at }: Pick<Schedule, 'started_at'>, now: Date): number {
  const day = (time: number) => Math.floor(time / DAY_MS)
  return Math.max(1, day(now.getTime()) - day(Date.parse(started_at)) + 1)
}

/** Grows by the same factor every day, from 50 messages to the target on the last day. */
export function limitOn(
  { target_daily_volume: target, warmup_days: days }: Schedule,
  day: number,
): number {
  if (day >= days) return target
  const first = Math.min(FIRST_DAY, target)
  return Math.round(first * (target / first) ** ((day - 1) / (days - 1)))
}

export function stageOf(schedule: Schedule, now: Date) {
  const day = dayOf(schedule, now)
  const completed = day > schedule.warmup_days
  return {
    day,
    completed,
    stage: completed ? 'completed' : `day ${day}`,
    today_limit: limitOn(schedule, day),
  }
}

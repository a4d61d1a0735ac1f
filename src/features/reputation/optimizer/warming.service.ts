import { isIP } from 'node:net'
import type { Core } from '../../../core.ts'
import { plainAddress } from '../../../lib/cidr.ts'
import { isOrganization } from '../../tracking/tracked.repository.ts'
import { IpWarmed } from '../reputation.events.ts'
import { NoSuchOrganization, NotAnAddress, ScheduleNotFound } from './optimizer.errors.ts'
import { type Schedule, stageOf } from './warm-up.ts'
import * as warming from './warming.repository.ts'

type Needs = Pick<Core, 'db' | 'events' | 'now'>

export type WarmingService = ReturnType<typeof warmingService>

/** Addresses that are new to the world send a little more every day. */
export const warmingService = ({ db, events, now }: Needs) => {
  const shown = (schedule: Schedule, sent: number) => ({
    ip_address: schedule.ip_address,
    organization_id: schedule.organization_id,
    target_daily_volume: schedule.target_daily_volume,
    warmup_days: schedule.warmup_days,
    started_at: schedule.started_at,
    ...stageOf(schedule, now()),
    sent_today: sent,
  })
  const tell = (tx: Parameters<typeof events.emit>[0], schedule: Schedule) => {
    const { stage, today_limit } = stageOf(schedule, now())
    return events.emit(
      tx,
      IpWarmed,
      { org_id: schedule.organization_id },
      {
        ip: schedule.ip_address,
        stage,
        today_limit,
        target_volume: schedule.target_daily_volume,
      },
    )
  }

  return {
    async schedule(sent: warming.NewSchedule) {
      const ip_address = addressOf(sent.ip_address)
      if (!(await isOrganization(db, sent.organization_id))) throw new NoSuchOrganization()
      const stored = await db.transaction().execute(async (tx) => {
        const schedule = await warming.store(tx, { ...sent, ip_address }, now())
        await tell(tx, schedule)
        return schedule
      })
      const counted = await warming.sentToday(db, [ip_address], now())
      return { status: 'ok' as const, ...shown(stored, counted.get(ip_address) ?? 0) }
    },

    async find(sent: string) {
      const ip = addressOf(sent)
      const schedule = await warming.find(db, ip)
      if (!schedule) throw new ScheduleNotFound()
      return shown(schedule, (await warming.sentToday(db, [ip], now())).get(ip) ?? 0)
    },

    async status() {
      const all = await warming.all(db)
      const ips = all.map(({ ip_address }) => ip_address)
      const sent = await warming.sentToday(db, ips, now())
      return { schedules: all.map((one) => shown(one, sent.get(one.ip_address) ?? 0)) }
    },

    /** Tells of every address that may send more than yesterday, once. */
    tellSteps: () =>
      db.transaction().execute(async (tx) => {
        for (const schedule of await warming.lockUntold(tx)) {
          const { day, completed } = stageOf(schedule, now())
          const told = completed ? schedule.warmup_days + 1 : day
          if (told <= schedule.told_day) continue
          await warming.setTold(tx, schedule.ip_address, told)
          await tell(tx, schedule)
        }
      }),
  }
}

function addressOf(sent: string): string {
  if (isIP(sent) === 0 || sent.includes('%')) throw new NotAnAddress('ip_address')
  return plainAddress(sent)
}

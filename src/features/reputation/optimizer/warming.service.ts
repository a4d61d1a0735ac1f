import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { isOrganization } from '../../../hosting/tenants.repository.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { IpWarmed } from '../reputation.events.ts'
import { hasSeveralSenders } from './hosted.repository.ts'
import {
  NoSuchOrganization,
  NothingToChange,
  ScheduleNotFound,
  SeveralSenders,
} from './optimizer.errors.ts'
import { counts } from './paced-mail.repository.ts'
import { type Schedule, stageOf } from './warm-up.ts'
import * as changes from './warm-up-changes.ts'
import * as warming from './warming.repository.ts'

type Needs = Pick<Core, 'change' | 'db' | 'events' | 'now'>

export type WarmingService = ReturnType<typeof warmingService>

/** New IP addresses send a little more every day. */
export const warmingService = ({ change, db, events, now }: Needs) => {
  const shown = (schedule: Schedule, sent: number) => ({
    ip_address: schedule.ip_address,
    organization_id: schedule.organization_id,
    target_daily_volume: schedule.target_daily_volume,
    warmup_days: schedule.warmup_days,
    started_at: schedule.started_at,
    paused_at: schedule.paused_at,
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

  /** Adds the mail of each schedule: sent today, handed to Postfix, and waiting. */
  async function withMail(schedules: Schedule[]) {
    const ips = schedules.map(({ ip_address }) => ip_address)
    const sent = await warming.sentToday(db, ips, now())
    const paced = await counts(db)
    const totalOf = (ip: string, isWaiting: boolean) =>
      paced
        .filter((row) => row.ip_address === ip && (row.state === 'waiting') === isWaiting)
        .reduce((sum, { total }) => sum + total, 0)
    return schedules.map((schedule) => ({
      ...shown(schedule, sent.get(schedule.ip_address) ?? 0),
      under_way: totalOf(schedule.ip_address, false),
      waiting: totalOf(schedule.ip_address, true),
    }))
  }
  const one = async (schedule: Schedule) => (await withMail([schedule]))[0] as Shown
  type Shown = Awaited<ReturnType<typeof withMail>>[number]

  return {
    async schedule(sent: warming.NewSchedule & { organization_id: string }) {
      const ip_address = changes.sendingAddress(sent.ip_address)
      if (!(await isOrganization(db, sent.organization_id))) throw new NoSuchOrganization()
      if (await hasSeveralSenders(db)) throw new SeveralSenders()
      const stored = await db.transaction().execute(async (tx) => {
        const schedule = await warming.store(tx, { ...sent, ip_address }, now())
        await tell(tx, schedule)
        return schedule
      })
      const counted = await warming.sentToday(db, [ip_address], now())
      return { status: 'ok' as const, ...shown(stored, counted.get(ip_address) ?? 0) }
    },

    async find(sent: string) {
      const ip = changes.sendingAddress(sent)
      const schedule = await warming.find(db, ip)
      if (!schedule) throw new ScheduleNotFound()
      return shown(schedule, (await warming.sentToday(db, [ip], now())).get(ip) ?? 0)
    },

    /** For operators, with the mail that waits. */
    async list(page: Page) {
      const all = await warming.all(db)
      const shownOnPage = all.slice(page.offset, page.offset + page.perPage)
      return paginated(await withMail(shownOnPage), all.length, page)
    },

    async begin(caller: Caller, sent: warming.NewSchedule) {
      const schedule = await change(caller, (tx) => changes.begin(tx, sent, now()))
      return one(schedule)
    },

    async alter(caller: Caller, ip: string, sent: changes.WarmUpChange) {
      if (Object.keys(sent).length === 0) throw new NothingToChange()
      return one(await change(caller, (tx) => changes.alter(tx, ip, sent, now())))
    },

    end: (caller: Caller, ip: string) =>
      change(caller, async (tx) => {
        const { ip_address, organization_id } = await changes.end(tx, ip)
        return { ip_address, organization_id }
      }),

    async status() {
      const all = await warming.all(db)
      const ips = all.map(({ ip_address }) => ip_address)
      const sent = await warming.sentToday(db, ips, now())
      return { schedules: all.map((one) => shown(one, sent.get(one.ip_address) ?? 0)) }
    },

    /** Emits one event for every IP address whose limit has grown since yesterday. */
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

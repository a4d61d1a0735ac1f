import { hostname } from 'node:os'
import type { Core } from '../../../core.ts'
import { SystemAlert } from '../monitoring.events.ts'
import { minuteOf } from '../samples/minute.ts'
import { insertSamples } from '../samples/samples.repository.ts'
import { lockLevel, storeLevel } from './host.repository.ts'
import { levelOf, type Resource } from './levels.ts'
import type { Readings } from './readings.ts'

type Needs = Pick<Core, 'db' | 'events' | 'now'>

/** Stores the resource usage of a host and emits an event when it crosses a threshold. */
export async function checkHost({ db, events, now }: Needs, readings: Readings, host = hostname()) {
  const time = now()
  const { cpu_percent: cpu, memory_percent: memory, disk_percent: disk } = readings
  const values: [Resource, number | null][] = [
    ['cpu', cpu],
    ['memory', memory],
    ['disk', disk],
  ]
  const known = values.flatMap(([name, percent]) => (percent === null ? [] : [{ name, percent }]))
  await db.transaction().execute(async (tx) => {
    for (const { name: resource, percent } of known) {
      const before = await lockLevel(tx, host, resource)
      const level = levelOf(resource, percent, before?.level ?? 'ok')
      const isChanged = level !== (before?.level ?? 'ok')
      const checked_at = time.toISOString()
      const changed_at = before && !isChanged ? before.changed_at : checked_at
      await storeLevel(tx, { host, resource, level, percent, checked_at, changed_at })
      if (!isChanged) continue
      await events.emit(
        tx,
        SystemAlert,
        { org_id: null },
        {
          alert_type: `${resource}_high`,
          severity: level === 'ok' ? 'info' : level,
          message:
            level === 'ok'
              ? `${resource} of ${host} is back to normal at ${percent} percent`
              : `${resource} of ${host} is at ${percent} percent`,
          host,
          value: percent,
        },
      )
    }
  })
  await insertSamples(db, minuteOf(time), [
    ...(cpu === null ? [] : [{ metric: 'cpu_usage_percent', label: host, value: cpu }]),
    { metric: 'memory_usage_percent', label: host, value: memory },
    { metric: 'memory_usage_bytes', label: host, value: readings.memory_bytes },
  ])
}

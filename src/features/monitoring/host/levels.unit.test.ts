import { expect, it } from 'vitest'
import { type Level, levelOf } from './levels.ts'

it('the alert level of a host does not flap when a value oscillates around a threshold', () => {
  let level: Level = 'ok'
  const levels = [79, 80, 79, 80, 78, 90, 88, 86, 84, 76, 74].map((percent) => {
    level = levelOf('cpu', percent, level)
    return level
  })
  expect(levels).toEqual([
    ...['ok', 'warning', 'warning', 'warning', 'warning'],
    ...['critical', 'critical', 'critical', 'warning', 'warning', 'ok'],
  ])
})

it('the alert thresholds of disks are lower than those of memory and CPU', () => {
  expect(levelOf('disk', 75, 'ok')).toBe('warning')
  expect(levelOf('disk', 85, 'ok')).toBe('critical')
  expect(levelOf('memory', 79.9, 'ok')).toBe('ok')
})

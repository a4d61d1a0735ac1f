export type Resource = 'cpu' | 'memory' | 'disk'
export type Level = 'ok' | 'warning' | 'critical'

const THRESHOLDS: Record<Resource, { warning: number; critical: number }> = {
  cpu: { warning: 80, critical: 90 },
  memory: { warning: 80, critical: 90 },
  disk: { warning: 75, critical: 85 },
}
/** Hysteresis: a value that swings around a threshold emits one event. */
const SLACK = 5

export function levelOf(resource: Resource, percent: number, before: Level): Level {
  const { warning, critical } = THRESHOLDS[resource]
  const held = (threshold: number, isHeld: boolean) =>
    percent >= (isHeld ? threshold - SLACK : threshold)
  if (held(critical, before === 'critical')) return 'critical'
  return held(warning, before !== 'ok') ? 'warning' : 'ok'
}

/** Areas of the API that a key can be limited to: the segment of the URL after /api/v1. */
export const AREAS = [
  'activity',
  'aliases',
  'analytics',
  'api-keys',
  'archive',
  'caldav',
  'domains',
  'encryption',
  'filters',
  'mailboxes',
  'messages',
  'migration',
  'oauth',
  'organizations',
  'queue',
  'rag',
  'rate-limiter',
  'shared-mailboxes',
  'smtp-credentials',
  'storage',
  'suppressions',
  'templates',
  'tracking',
  'transport-rules',
  'url-protection',
  'users',
  'webhooks',
] as const

/** Each level includes the ones before it. */
export const LEVELS = ['read', 'write', 'admin'] as const
export type Level = (typeof LEVELS)[number]

/** Every scope that a key can have: a level for the whole API, or for one area. */
export const SCOPES: readonly string[] = [
  ...LEVELS,
  ...AREAS.flatMap((area) => LEVELS.map((level) => `${area}:${level}`)),
]

const parsed = (scope: string) => {
  const [first = '', second] = scope.split(':')
  return second === undefined
    ? { area: undefined, level: first as Level }
    : { area: first, level: second as Level }
}

const reaches = (level: Level, wanted: Level) => LEVELS.indexOf(level) >= LEVELS.indexOf(wanted)

/** Returns whether the scopes permit this level in an area; without an area, in the whole API. */
export const permits = (scopes: readonly string[], wanted: Level, area?: string): boolean =>
  scopes.some((scope) => {
    const { area: limited, level } = parsed(scope)
    return (limited === undefined || limited === area) && reaches(level, wanted)
  })

/** Returns whether every one of these scopes is contained in the others. */
export const contains = (scopes: readonly string[], wanted: readonly string[]): boolean =>
  wanted.every((scope) => {
    const { area, level } = parsed(scope)
    return permits(scopes, level, area)
  })

/** The highest level that the scopes give anywhere. */
export const highestLevel = (scopes: readonly string[]): Level =>
  LEVELS.findLast((level) => scopes.some((scope) => parsed(scope).level === level)) ?? 'read'

/** `/api/v1/domains/:domain_id` belongs to `domains`. */
export const areaOf = (url: string | undefined): string => url?.split('/')[3] ?? ''

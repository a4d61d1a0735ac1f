export interface IspLimit {
  hourly_limit: number
  daily_limit: number
  burst_limit: number
  delay_ms: number
  max_concurrent: number
}

/** The name of all destinations without limits of their own. */
export const OTHERS = 'default'

const limit = (hour: number, day: number, burst: number, delay: number, concurrent: number) => ({
  hourly_limit: hour,
  daily_limit: day,
  burst_limit: burst,
  delay_ms: delay,
  max_concurrent: concurrent,
})

const gmail = limit(100, 2000, 10, 1000, 5)
const outlook = limit(300, 5000, 20, 500, 10)
const icloud = limit(200, 3000, 15, 800, 8)

/** Defaults that large providers are known to accept; operators can change them. */
export const DEFAULT_LIMITS: Readonly<Record<string, IspLimit>> = {
  'gmail.com': gmail,
  'googlemail.com': gmail,
  'outlook.com': outlook,
  'hotmail.com': outlook,
  'live.com': outlook,
  'yahoo.com': limit(200, 3000, 15, 1000, 8),
  'aol.com': limit(100, 1500, 10, 2000, 3),
  'icloud.com': icloud,
  'me.com': icloud,
  'comcast.net': limit(150, 2000, 10, 1500, 5),
  [OTHERS]: limit(500, 10_000, 50, 100, 20),
}

/** The limit of a destination: its own, a built-in one, or that of all other destinations. */
export function limitFor(
  domain: string,
  stored: readonly (IspLimit & { domain: string })[],
): IspLimit {
  const own = (name: string) => stored.find((limit) => limit.domain === name)
  const { hourly_limit, daily_limit, burst_limit, delay_ms, max_concurrent } = (own(domain) ??
    DEFAULT_LIMITS[domain] ??
    own(OTHERS) ??
    DEFAULT_LIMITS[OTHERS]) as IspLimit
  return { hourly_limit, daily_limit, burst_limit, delay_ms, max_concurrent }
}

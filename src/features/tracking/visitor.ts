/** What a request tells about who makes it. */
export interface Visit {
  method: string
  userAgent: string | null
  /** `Sec-Purpose`, `Purpose`, `X-Purpose` and `X-Moz`, as far as they were sent. */
  purpose: string
}

const PREFETCH = /prefetch|preview|prerender/i
const PROXY = /GoogleImageProxy|YahooMailProxy/i
// Apple's proxy loads everything when a message arrives, and calls itself this and nothing more.
const PRIVACY_PROXY = /^Mozilla\/5\.0$/
const PROGRAM =
  /bot\b|bot\/|crawl|spider|slurp|scan|preview|prefetch|monitor|validator|headless|phantomjs|curl\/|wget|python|java\/|go-http|okhttp|node-fetch|axios|undici|libwww|httpclient|ruby|perl|php\/|facebookexternalhit|whatsapp|skypeuripreview|barracuda|proofpoint|mimecast|symantec|messagelabs|forcepoint|ironport|fireeye|trendmicro|sophos|safelinks|urldefense|zscaler|cloudmark|office 365 atp|microsoft-atp/i

/**
 * Why a request is no person's, undefined when it is one. The image proxies of Gmail and Yahoo fetch
 * when somebody opens the message, so they count; Apple's fetches whether anybody does or not.
 */
export function automation({ method, userAgent, purpose }: Visit): string | undefined {
  if (method === 'HEAD') return 'head'
  if (PREFETCH.test(purpose)) return 'prefetch'
  const agent = userAgent?.trim() ?? ''
  if (agent === '') return 'no_user_agent'
  if (PRIVACY_PROXY.test(agent)) return 'privacy_proxy'
  return !PROXY.test(agent) && PROGRAM.test(agent) ? 'program' : undefined
}

const first = (agent: string, known: [RegExp, string][]): string | null =>
  known.find(([pattern]) => pattern.test(agent))?.[1] ?? null

// In this order: each calls itself what the ones below are, too.
const BROWSERS: [RegExp, string][] = [
  [/GoogleImageProxy/i, 'Gmail'],
  [/YahooMailProxy/i, 'Yahoo Mail'],
  [/Thunderbird/i, 'Thunderbird'],
  [/Outlook|MSOffice|Microsoft Office/i, 'Outlook'],
  [/Edg(e|A|iOS)?\//, 'Edge'],
  [/OPR\/|Opera/, 'Opera'],
  [/SamsungBrowser/, 'Samsung Internet'],
  [/Firefox|FxiOS/, 'Firefox'],
  [/Chrome|CriOS/, 'Chrome'],
  [/Version\/.*Safari/, 'Safari'],
  [/AppleWebKit/, 'Apple Mail'],
  [/Trident|MSIE/, 'Internet Explorer'],
]
const SYSTEMS: [RegExp, string][] = [
  [/Windows/i, 'Windows'],
  [/iPhone|iPad|iPod/, 'iOS'],
  [/Android/i, 'Android'],
  [/Mac OS X|Macintosh/, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Linux|X11/i, 'Linux'],
]

/** Families only: what is in use, not what would tell one person from another. */
export function deviceOf(userAgent: string | null) {
  const agent = userAgent ?? ''
  const isTablet = /iPad|Tablet|PlayBook|Android(?!.*Mobile)/i.test(agent)
  const isPhone = /Mobi|iPhone|iPod|Android/i.test(agent)
  const operating_system = first(agent, SYSTEMS)
  const isDesktop = operating_system !== null
  return {
    device_type: PROXY.test(agent)
      ? 'proxy'
      : isTablet
        ? 'tablet'
        : isPhone
          ? 'mobile'
          : isDesktop
            ? 'desktop'
            : null,
    browser: first(agent, BROWSERS),
    operating_system,
  }
}

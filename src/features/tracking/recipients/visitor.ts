/** The parts of a request that distinguish a person from a program. */
export interface Visit {
  method: string
  userAgent: string | null
  /** The values of `Sec-Purpose`, `Purpose`, `X-Purpose` and `X-Moz`. */
  purpose: string
}

const PREFETCH = /prefetch|preview|prerender/i
const PROXY = /GoogleImageProxy|YahooMailProxy/i
// The proxy of Apple Mail loads all images on arrival; this is its complete user agent.
const PRIVACY_PROXY = /^Mozilla\/5\.0$/
const PROGRAM =
  /bot\b|bot\/|crawl|spider|slurp|scan|preview|prefetch|monitor|validator|headless|phantomjs|curl\/|wget|python|java\/|go-http|okhttp|node-fetch|axios|undici|libwww|httpclient|ruby|perl|php\/|facebookexternalhit|whatsapp|skypeuripreview|barracuda|proofpoint|mimecast|symantec|messagelabs|forcepoint|ironport|fireeye|trendmicro|sophos|safelinks|urldefense|zscaler|cloudmark|office 365 atp|microsoft-atp/i

/**
 * The reason why a request is automated; undefined for a person. The image proxies of Gmail and Yahoo
 * fetch when a person opens the message, so they count. The proxy of Apple fetches in any case.
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

// The order matters: a user agent also contains the names of the browsers listed below it.
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

/** Families only, without versions that could identify a person. */
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

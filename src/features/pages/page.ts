import type { Manifest } from './built-files.ts'

/** The surfaces by the first part of their path. `start` is the sign-in page at `/`, `setup` the first run. */
export const SURFACES = ['start', 'setup', 'app', 'console', 'mailbox'] as const
export type Surface = (typeof SURFACES)[number]

/**
 * Nothing inline, nothing from other hosts, no HTML from strings. White-label logos may be pictures
 * of other hosts, on https only.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: https:",
  "connect-src 'self'",
  // The preview of a white label, which the console shows in a sandboxed frame.
  "frame-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

export const PAGE_HEADERS = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'credentialless',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'cache-control': 'no-store',
  vary: 'Accept-Language, Cookie',
}

const DESCRIPTIONS: Record<string, string> = {
  en: 'Domains, mailboxes and mail of an organization',
  de: 'Domains, Postfächer und Mail einer Organisation',
}
const NEEDS_SCRIPT: Record<string, string> = {
  en: 'This page needs JavaScript.',
  de: 'Diese Seite braucht JavaScript.',
}

export interface Preferences {
  language: string
  theme: 'light' | 'dark' | 'system'
}

/** The page of a surface. It contains no data: scripts read that from the API. */
export function pageHtml(
  { scripts, imports, style }: Manifest,
  surface: Surface,
  { language, theme }: Preferences,
): string {
  const script = scripts[language]?.[surface] ?? ''
  const preloads = (imports[script] ?? []).map(
    (name) => `<link rel="modulepreload" href="/assets/${name}">\n`,
  )
  const attribute = theme === 'system' ? '' : ` data-theme="${theme}"`
  return `<!doctype html>
<html lang="${language}"${attribute}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${DESCRIPTIONS[language]}">
<title>Mailplane</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/${style}">
${preloads.join('')}<script type="module" src="/assets/${script}"></script>
</head>
<body>
<div id="app"></div>
<noscript>${NEEDS_SCRIPT[language]}</noscript>
</body>
</html>
`
}

/** The language and theme of the preference cookies; without one, the language of the browser. */
export function preferencesOf(
  languages: readonly string[],
  cookies: Record<string, string | undefined>,
  acceptLanguage: string | undefined,
): Preferences {
  const { lang = '', theme } = cookies
  return {
    language: languages.includes(lang) ? lang : acceptedLanguage(languages, acceptLanguage),
    theme: theme === 'light' || theme === 'dark' ? theme : 'system',
  }
}

/** The offered language that the browser prefers; English where it prefers none of them. */
function acceptedLanguage(languages: readonly string[], header = ''): string {
  const wanted = header
    .split(',')
    .map((entry) => {
      const [tag = '', ...parameters] = entry.trim().toLowerCase().split(';')
      const quality = parameters.map((one) => /^\s*q=([\d.]+)/.exec(one)?.[1]).find(Boolean)
      return { language: tag.split('-')[0] ?? '', quality: Number(quality ?? 1) }
    })
    .filter(({ language, quality }) => quality > 0 && languages.includes(language))
    .sort((one, other) => other.quality - one.quality)
  return wanted[0]?.language ?? 'en'
}

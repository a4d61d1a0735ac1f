import { hash } from 'node:crypto'
import type { ShownBrand } from '../../../hosting/brand.repository.ts'
import { type Html, html, languageOf, PAGE_STYLE } from '../../../lib/html-page.ts'
import type { Verdict } from '../checking/verdict.ts'
import { hostOf } from '../lists/entries.ts'
import { type PageWords, pageWords } from './words.ts'

const STYLE = `${PAGE_STYLE}
.panel { width: min(560px, 100%); }
dl { margin: 0; display: grid; gap: 4px; }
dt { color: var(--muted); }
dd { margin: 0 0 8px; overflow-wrap: anywhere; }
.host { font-size: 1.125rem; font-weight: 600; }
.address { font-family: ui-monospace, Menlo, monospace; font-size: 0.8125rem; }
.button {
  justify-self: start; display: inline-grid; align-items: center; min-height: 38px; padding: 0 16px;
  font-weight: 500; color: inherit; text-decoration: none;
  border: 1px solid var(--control-line); border-radius: 6px;
}
`

/** The pages load and run nothing, cannot be framed and send no form. */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`,
  'cross-origin-opener-policy': 'same-origin',
  'x-robots-tag': 'noindex, nofollow',
}

interface Shown {
  verdict: Verdict
  /** The address as a browser opens it. */
  location: string
  brand: ShownBrand
}

/** Says what is wrong with a link. Only a suspicious one can be opened from here. */
export function verdictPage(acceptLanguage: string | undefined, shown: Shown): string {
  const language = languageOf(acceptLanguage)
  const t = pageWords(language)
  const { verdict, location, brand } = shown
  const isBlocked = verdict.verdict === 'blocked'
  const { href, hostname } = new URL(location)
  const reasons = verdict.reasons.map(
    (reason) => html`<li>${t.reasons[reason as keyof PageWords['reasons']] ?? ''}</li>`,
  )
  return page(language, isBlocked ? t.blocked : t.suspicious, brand, [
    html`<p>${isBlocked ? t.blockedHint : t.suspiciousHint}</p>`,
    html`<ul class="bad">${reasons}</ul>`,
    html`<dl>
<dt>${t.leadsTo}</dt><dd class="host">${hostOf(new URL(href)) || hostname}</dd>
<dt>${t.wholeAddress}</dt><dd class="address">${href}</dd>
</dl>`,
    ...(isBlocked
      ? []
      : [
          html`<p class="muted">${t.doNot}</p>`,
          html`<a class="button" role="button" rel="noreferrer noopener nofollow" href="${href}">${t.goOn}</a>`,
        ]),
  ])
}

export function unknownPage(acceptLanguage: string | undefined): string {
  const language = languageOf(acceptLanguage)
  const t = pageWords(language)
  return page(language, t.unknown, {}, [html`<p>${t.unknownHint}</p>`])
}

const page = (language: string, title: string, brand: ShownBrand, body: Html[]): string =>
  html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
`.markup +
  `<style>${STYLE}</style>` +
  html`
</head>
<body>
<main class="panel">
<p class="brand">${brand.brand_name ?? 'Mailplane'}</p>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`.markup

import type { ShownBrand } from '../../../hosting/brand.repository.ts'
import { type Html, html } from '../../../lib/html-page.ts'

export const STYLE_PATH = '/oauth/style.css'

export interface View {
  language: 'en' | 'de'
  title: string
  brand?: ShownBrand
  /** Markup that was built by `html`. */
  body: Html
}

/** A page without script. */
export const pageOf = ({ language, title, brand, body }: View): string =>
  html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="stylesheet" href="${STYLE_PATH}">
</head>
<body>
<main class="panel">
<p class="brand">${brand?.brand_name ?? 'Mailplane'}</p>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`.markup

/**
 * A browser applies `form-action` to the redirects after a form too, so the page names the place where
 * the program waits.
 */
export function pageHeaders(redirectUri?: string): Record<string, string> {
  const target = redirectUri !== undefined && URL.canParse(redirectUri) ? sourceOf(redirectUri) : ''
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': [
      "default-src 'none'",
      "style-src 'self'",
      `form-action 'self'${target}`,
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cache-control': 'no-store',
  }
}

function sourceOf(redirectUri: string): string {
  const { origin, protocol } = new URL(redirectUri)
  return ` ${origin === 'null' ? protocol : origin}`
}

import { safeCss } from '../../lib/safe-css.ts'
import { escapeHtml, safeHtml } from '../../lib/safe-html.ts'
import type { Brand } from './whitelabel.schemas.ts'

const COLOR = /^#[0-9a-f]{3,8}$/i
const DEFAULT_PRIMARY = '#1f5fbf'
const DEFAULT_SECONDARY = '#f4f6f9'

// A second line of defence: markup that passes the sanitizer must not run, frame or post anything.
const POLICY =
  "default-src 'none'; img-src https: data: 'self'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'"

/** The page runs nothing, has no origin, and only pages of this host may frame it. */
export const PREVIEW_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `${POLICY}; frame-ancestors 'self'; sandbox`,
  'x-frame-options': 'SAMEORIGIN',
  'cross-origin-embedder-policy': 'credentialless',
  'cross-origin-resource-policy': 'same-origin',
}

/**
 * The login page of a brand. Values are escaped and never evaluated. Stored HTML is sanitized again,
 * because an older sanitizer may have let it pass.
 */
export function previewOf(brand: Brand): string {
  const name = escapeHtml(brand.brand_name ?? 'Mail')
  const link = (rel: string, url: string | undefined) =>
    url ? `<link rel="${rel}" href="${escapeHtml(url)}">\n` : ''
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${name}</title>
${link('icon', brand.favicon_url)}<style>
:root { --primary: ${colorOf(brand.primary_color, DEFAULT_PRIMARY)}; --secondary: ${colorOf(brand.secondary_color, DEFAULT_SECONDARY)}; }
body { margin: 0; font-family: sans-serif; background: var(--secondary); }
header { padding: 1rem; color: white; background: var(--primary); }
main, footer { max-width: 30rem; margin: 1rem auto; }
${safeCss(brand.custom_css ?? '')}
</style>
</head>
<body>
<header>${logoOf(brand, name)}</header>
<main>${brand.login_page_html ? safeHtml(brand.login_page_html) : DEFAULT_FORM}</main>
<footer>${safeHtml(brand.footer_html ?? '')}${supportOf(brand)}</footer>
</body>
</html>
`
}

const colorOf = (color: string | undefined, fallback: string) =>
  color && COLOR.test(color) ? color : fallback

const logoOf = ({ logo_url }: Brand, name: string) =>
  logo_url ? `<img src="${escapeHtml(logo_url)}" alt="${name}">` : `<h1>${name}</h1>`

function supportOf({ support_email, support_url }: Brand): string {
  const links = [
    ...(support_email ? [[`mailto:${support_email}`, support_email]] : []),
    ...(support_url ? [[support_url, support_url]] : []),
  ]
  return links
    .map(([href = '', text = '']) => `<p><a href="${escapeHtml(href)}">${escapeHtml(text)}</a></p>`)
    .join('')
}

const DEFAULT_FORM = `<form method="post" action="/login">
<p><label>Address <input type="email" name="email" autocomplete="username"></label></p>
<p><label>Password <input type="password" name="password" autocomplete="current-password"></label></p>
<p><button type="submit">Log in</button></p>
</form>`

import { hash } from 'node:crypto'
import type { ShownBrand } from '../../../hosting/brand.repository.ts'
import { escapeHtml } from '../../../lib/safe-html.ts'

const STYLE =
  'body{font-family:sans-serif;max-width:32em;margin:4em auto;padding:0 1em;line-height:1.5}button{font:inherit;padding:.5em 1.5em}'

/** The name of a brand and its support links are all that is not written here. */
const page =
  (title: string, body: string) =>
  (brand: ShownBrand = {}): string =>
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
${brand.brand_name ? `<p><strong>${escapeHtml(brand.brand_name)}</strong></p>\n` : ''}<h1>${title}</h1>
${body}
${supportOf(brand)}</body>
</html>
`

function supportOf({ support_email, support_url }: ShownBrand): string {
  const links = [
    ...(support_email ? [[`mailto:${support_email}`, support_email]] : []),
    ...(support_url ? [[support_url, support_url]] : []),
  ]
  return links
    .map(
      ([href = '', text = '']) => `<p><a href="${escapeHtml(href)}">${escapeHtml(text)}</a></p>\n`,
    )
    .join('')
}

export const confirmation = page(
  'Unsubscribe',
  `<p>You will get no more mail from this sender once you confirm.</p>
<form method="post"><button type="submit" name="List-Unsubscribe" value="One-Click">Unsubscribe</button></form>`,
)
export const unsubscribed = page(
  'You are unsubscribed',
  '<p>This sender will send no more mail to your address. You may close this page.</p>',
)
export const unknown = page(
  'This link does not work',
  '<p>It is incomplete or too old. Open the link of the newest message, or write to the sender.</p>',
)

/** The pages load and run nothing, cannot be framed and post only to themselves. */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  'x-robots-tag': 'noindex, nofollow',
}

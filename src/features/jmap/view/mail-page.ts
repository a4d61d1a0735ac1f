import type { ShownHtml } from './mail-html.ts'

/** Without an origin, without code, without fields; only pages of this host may frame it. */
const policy = (withRemote: boolean): string =>
  [
    "default-src 'none'",
    `img-src data:${withRemote ? ' https: http:' : ''}`,
    "style-src 'unsafe-inline'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
    // Links open in pages of their own, which the sandbox does not hold.
    'sandbox allow-popups allow-popups-to-escape-sandbox',
  ].join('; ')

export const pageHeaders = (withRemote: boolean) => ({
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': policy(withRemote),
  'x-frame-options': 'SAMEORIGIN',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  // The page that frames it asks for these.
  'cross-origin-embedder-policy': 'credentialless',
  'cross-origin-resource-policy': 'same-origin',
})

/** The page for the frame in which the web app shows a message. */
export const mailPage = ({ body, style }: Pick<ShownHtml, 'body' | 'style'>): string =>
  `<!doctype html>
<html lang="">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light">
<title>Message</title>
<style>
body { margin: 12px; font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
img, table { max-width: 100%; }
img { height: auto; }
pre { white-space: pre-wrap; }
</style>
<style>
${style}
</style>
</head>
<body>
${body}
</body>
</html>
`

import { hash } from 'node:crypto'

const STYLE =
  'body{font-family:sans-serif;max-width:32em;margin:4em auto;padding:0 1em;line-height:1.5}button{font:inherit;padding:.5em 1.5em}'

/** Nothing of the request stands on these pages, so there is nothing to escape. */
const page = (title: string, body: string): string =>
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
<h1>${title}</h1>
${body}
</body>
</html>
`

export const CONFIRMATION = page(
  'Unsubscribe',
  `<p>You will get no more mail from this sender once you confirm.</p>
<form method="post"><button type="submit" name="List-Unsubscribe" value="One-Click">Unsubscribe</button></form>`,
)
export const UNSUBSCRIBED = page(
  'You are unsubscribed',
  '<p>This sender will send no more mail to your address. You may close this page.</p>',
)
export const UNKNOWN = page(
  'This link does not work',
  '<p>It is incomplete or too old. Open the link of the newest message, or write to the sender.</p>',
)

/** The pages load nothing, run nothing, are shown in nobody's frame and send only to themselves. */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  'x-robots-tag': 'noindex, nofollow',
}

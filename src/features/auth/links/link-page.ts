import { hash } from 'node:crypto'

const STYLE =
  'body{font-family:sans-serif;max-width:32em;margin:4em auto;padding:0 1em;line-height:1.5}input,button{font:inherit;padding:.5em}input{display:block;width:100%;box-sizing:border-box;margin:.3em 0 1em}'

// The token is in the fragment of the address, so it appears in no log. Texts are set as text, never
// as markup.
const SCRIPT = `
const token = location.hash.slice(1)
history.replaceState(null, '', location.pathname)
const form = document.querySelector('form')
const about = document.querySelector('#about')
const post = async (path, body) => {
  const answer = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { ok: answer.ok, body: await answer.json() }
}
const failed = () => { about.textContent = 'The server does not answer. Open the link again later.' }
post('links/inspect', { token }).then(({ ok, body }) => {
  if (!ok) { about.textContent = body.msg; return }
  const { kind, email, organization_name } = body.data
  about.textContent = kind === 'invitation'
    ? 'Set a password for ' + email + ' to join ' + organization_name + '.'
    : 'Set a new password for ' + email + '.'
  form.hidden = false
}).catch(failed)
form.addEventListener('submit', (event) => {
  event.preventDefault()
  post('links/accept', { token, password: form.password.value }).then(({ ok, body }) => {
    about.textContent = ok ? 'The password is set. You can sign in now.' : body.msg
    form.hidden = ok
  }).catch(failed)
})
`

/** Contains nothing of the request, so nothing needs to be escaped. */
export const LINK_PAGE_HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Set a password</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Set a password</h1>
<p id="about">Loading. This page needs JavaScript.</p>
<form hidden>
<label>New password<input name="password" type="password" autocomplete="new-password" minlength="12" required></label>
<button type="submit">Save</button>
</form>
<script>${SCRIPT}</script>
</body>
</html>
`

const sourceOf = (text: string) => `'sha256-${hash('sha256', text, 'base64')}'`

/** The page runs its own script only, talks to this host only and cannot be framed. */
export const LINK_PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; script-src ${sourceOf(SCRIPT)}; style-src ${sourceOf(STYLE)}; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex, nofollow',
}

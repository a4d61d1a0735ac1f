import type { KoaContextWithOIDC } from 'oidc-provider'
import { type Html, html, languageOf } from '../../../lib/html-page.ts'
import { pageHeaders, pageOf } from './page.ts'
import { ROUTES } from './routes.ts'
import { type Words, wordsOf } from './words.ts'

interface Shown {
  title: string
  body: Html
}

function send(ctx: KoaContextWithOIDC, view: (t: Words) => Shown): void {
  const language = languageOf(ctx.get('accept-language'))
  const { title, body } = view(wordsOf(language))
  ctx.set(pageHeaders())
  ctx.body = pageOf({ language, title, body })
}

/** The error page of a request that cannot be sent back to a program. */
export const sendError = (ctx: KoaContextWithOIDC, error: string, description = '') =>
  send(ctx, (t) => ({
    title: t.failed,
    body: html`<p class="bad" role="alert">${description || error}</p>
<p class="muted"><code>${error}</code></p>`,
  }))

const csrfOf = (ctx: KoaContextWithOIDC) =>
  (ctx.oidc.session?.state as { secret?: string } | undefined)?.secret ?? ''

/** A code from the address of the page, which the provider would submit with a script. */
const typedCode = (ctx: KoaContextWithOIDC) => String(ctx.req.headers['x-device-user-code'] ?? '')

/** The pages of a device that has no browser of its own. */
export const devicePages = {
  async userCodeInputSource(
    ctx: KoaContextWithOIDC,
    _form: string,
    _out?: unknown,
    err?: Error & { userCode?: string },
  ) {
    send(ctx, (t) => ({
      title: t.deviceTitle,
      body: html`${
        err &&
        html`<p class="bad" role="alert">${
          err.name === 'AbortedError' ? t.deviceAborted : t.deviceWrong
        }</p>`
      }
<p>${t.deviceHint}</p>
<form method="post" action="${ROUTES.code_verification}">
<input type="hidden" name="xsrf" value="${csrfOf(ctx)}">
<label>${t.code}<input class="code" name="user_code" value="${typedCode(ctx)}" autocomplete="off" autocapitalize="characters" spellcheck="false" required autofocus></label>
<button class="primary">${t.continue}</button>
</form>`,
    }))
  },

  async userCodeConfirmSource(
    ctx: KoaContextWithOIDC,
    _form: string,
    client: { clientId: string; clientName?: string | undefined },
    _device: unknown,
    userCode: string,
  ) {
    send(ctx, (t) => ({
      title: t.deviceConfirm(client.clientName ?? client.clientId),
      body: html`<p>${t.deviceCompare}</p>
<p class="code">${userCode}</p>
<form method="post" action="${ROUTES.code_verification}">
<input type="hidden" name="xsrf" value="${csrfOf(ctx)}">
<input type="hidden" name="user_code" value="${userCode}">
<button class="primary" name="confirm" value="yes">${t.continue}</button>
<button name="abort" value="yes">${t.abort}</button>
</form>`,
    }))
  },

  async successSource(ctx: KoaContextWithOIDC) {
    send(ctx, (t) => ({ title: t.deviceDone, body: html`<p>${t.close}</p>` }))
  },
}

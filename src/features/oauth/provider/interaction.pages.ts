import type { ShownBrand } from '../../../hosting/brand.repository.ts'
import { html, languageOf } from '../../../lib/html-page.ts'
import { MAIL_SCOPES } from '../scopes.ts'
import { pageOf } from './page.ts'
import { type Words, wordsOf } from './words.ts'

export interface Context {
  acceptLanguage: string | undefined
  brand: ShownBrand
  clientName: string
}

const translated = ({ acceptLanguage }: Context): { language: 'en' | 'de'; t: Words } => {
  const language = languageOf(acceptLanguage)
  return { language, t: wordsOf(language) }
}

/** The result of the last attempt, as shown on a page. */
export type Problem =
  | 'wrong'
  | 'wrongCode'
  | 'wait'
  | 'network'
  | 'foreign'
  | 'mustChange'
  | 'unavailable'

const alert = (t: Words, problem: Problem | undefined) =>
  problem && html`<p class="bad" role="alert">${t[problem]}</p>`

export function signInPage(context: Context, email: string, problem?: Problem): string {
  const { language, t } = translated(context)
  return pageOf({
    language,
    brand: context.brand,
    title: t.signInTo(context.clientName),
    body: html`${alert(t, problem)}
<form method="post">
<label>${t.email}<input type="email" name="email" value="${email}" autocomplete="username" maxlength="255" required ${email === '' && html`autofocus`}></label>
<label>${t.password}<input type="password" name="password" autocomplete="current-password" maxlength="1024" required ${email !== '' && html`autofocus`}></label>
<button class="primary">${t.signIn}</button>
</form>`,
  })
}

/** `proof` says that the password was right a moment ago. */
export function codePage(context: Context, proof: string): string {
  const { language, t } = translated(context)
  return pageOf({
    language,
    brand: context.brand,
    title: t.codeTitle,
    body: html`<p>${t.codeHint}</p>
<form method="post">
<input type="hidden" name="proof" value="${proof}">
<label>${t.code}<input class="code" name="code" inputmode="numeric" autocomplete="one-time-code" maxlength="32" required autofocus></label>
<button class="primary">${t.continue}</button>
</form>`,
  })
}

interface Asked {
  email: string
  scopes: readonly string[]
  keepsAccess: boolean
}

export function consentPage(context: Context, { email, scopes, keepsAccess }: Asked): string {
  const { language, t } = translated(context)
  const asked = MAIL_SCOPES.filter((scope) => scopes.includes(scope)).map(
    (scope) => t.scopes[scope],
  )
  if (scopes.includes('openid') || scopes.includes('email')) asked.unshift(t.identity)
  if (keepsAccess) asked.push(t.offline)
  return pageOf({
    language,
    brand: context.brand,
    title: t.consentTitle(context.clientName),
    body: html`<p>${t.as(email)}</p>
<p>${t.asks}</p>
<ul>${asked.map((text) => html`<li>${text}</li>`)}</ul>
<form method="post">
<button class="primary" name="consent" value="yes" autofocus>${t.allow}</button>
<button name="consent" value="no">${t.deny}</button>
</form>
<p class="muted">${t.end}</p>`,
  })
}

/** A page without a form: what went wrong, and what to do. */
export function messagePage(
  acceptLanguage: string | undefined,
  which: 'expired' | Problem,
): string {
  const language = languageOf(acceptLanguage)
  const t = wordsOf(language)
  return pageOf({
    language,
    title: t.failed,
    body: html`<p class="bad" role="alert">${t[which]}</p>`,
  })
}

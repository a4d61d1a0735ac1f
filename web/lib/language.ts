export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const
export type Language = keyof typeof LANGUAGES

export const language: Language = LANGUAGE

/** The browser's region where it speaks the language of the page: `en-GB` for an English page. */
export const locale: string = navigator.language.startsWith(language)
  ? navigator.language
  : language

const PLURALS = new Intl.PluralRules(language)

/** `plural(3, 'mailbox', 'mailboxes')` */
export const plural = (count: number, one: string, many: string): string =>
  PLURALS.select(count) === 'one' ? one : many

/** A preference, not a secret: the server reads it to send the page in this language. */
export function chooseLanguage(chosen: Language): void {
  remember('lang', chosen)
  location.reload()
}

const YEAR_SECONDS = 31_536_000

/** Keeps a preference in a cookie that the server reads when it sends the page. */
export function remember(
  name: 'lang' | 'theme' | 'zone' | 'surface' | 'shortcuts',
  value: string,
): void {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API needs https.
  document.cookie = `${name}=${value}; path=/; max-age=${YEAR_SECONDS}; samesite=lax`
}

export const remembered = (name: string): string | undefined =>
  document.cookie.match(new RegExp(`(?:^|; )${name}=([^;]*)`))?.[1]

const CRLF = '\r\n'

/** Joins the lines of a script with CR LF (RFC 5228 §2.1). */
export const lines = (...parts: (string | readonly string[])[]): string =>
  parts
    .flat()
    .map((line) => line + CRLF)
    .join('')

/**
 * A quoted string: escapes quotes and backslashes and converts line breaks to CR LF, which RFC 5228
 * §2.4.2 allows. `${…}` is safe, because no script requires `variables` or `encoded-character`.
 */
export const quoted = (text: string): string =>
  `"${text
    .replaceAll('\0', '')
    .replace(/\r\n|\r|\n/g, CRLF)
    .replace(/[\\"]/g, '\\$&')}"`

/** A quoted string for one header line; removes line breaks, which could start another header. */
export const quotedLine = (text: string): string => quoted(text.replace(/\p{Cc}+/gu, ' ').trim())

export const quotedList = (texts: readonly string[]): string =>
  texts.length === 1 ? quoted(texts[0] as string) : `[${texts.map(quoted).join(', ')}]`

export const required = (extensions: readonly string[]): string =>
  `require [${extensions.map((name) => quoted(name)).join(', ')}];`

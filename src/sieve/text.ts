const CRLF = '\r\n'

/** Lines of a script, ended as RFC 5228 §2.1 wants them. */
export const lines = (...parts: (string | readonly string[])[]): string =>
  parts
    .flat()
    .map((line) => line + CRLF)
    .join('')

/**
 * A quoted string. Only a quote or a backslash could end or change it, so both are escaped; line
 * breaks may stand in it (RFC 5228 §2.4.2), and all become the one kind that a script may have.
 * `${…}` means nothing, because no script here requires `variables` or `encoded-character`.
 */
export const quoted = (text: string): string =>
  `"${text
    .replaceAll('\0', '')
    .replace(/\r\n|\r|\n/g, CRLF)
    .replace(/[\\"]/g, '\\$&')}"`

/** The same for what goes into one line of a message, where a line break could begin a header. */
export const quotedLine = (text: string): string => quoted(text.replace(/\p{Cc}+/gu, ' ').trim())

export const quotedList = (texts: readonly string[]): string =>
  texts.length === 1 ? quoted(texts[0] as string) : `[${texts.map(quoted).join(', ')}]`

export const required = (extensions: readonly string[]): string =>
  `require [${extensions.map((name) => quoted(name)).join(', ')}];`

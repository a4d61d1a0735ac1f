/**
 * Trims spaces, which are typing errors. Undefined when the text contains a line break, a tab or
 * another invisible character.
 */
export const trimSpaces = (text: string): string | undefined =>
  /[^\S ]|\p{Cc}/u.test(text) ? undefined : text.trim()

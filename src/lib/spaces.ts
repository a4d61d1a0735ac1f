/**
 * Without the spaces around it. Undefined where a line break, a tab or another character that
 * nobody sees stands anywhere in it: a slip of the hand leaves spaces, and nothing else.
 */
export const withoutSpaces = (text: string): string | undefined =>
  /[^\S ]|\p{Cc}/u.test(text) ? undefined : text.trim()

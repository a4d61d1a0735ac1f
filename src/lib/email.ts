const ADDRESS = '[^\\s@]+@[^\\s@.]+(\\.[^\\s@.]+)+'

/** Matches `text@text.tld` without spaces. A stricter check could reject working addresses. */
export const EMAIL_PATTERN = `^${ADDRESS}$`

/** For fields that are trimmed after validation. */
export const PADDED_EMAIL_PATTERN = `^\\s*${ADDRESS}\\s*$`

/** A bare address: no display name and no list, which mail programs would read as several. */
export const isEmailAddress = (text: string): boolean =>
  new RegExp(EMAIL_PATTERN).test(text) && !/[<>(),;:\\"[\]]/.test(text)

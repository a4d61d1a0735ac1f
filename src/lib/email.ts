const ADDRESS = '[^\\s@]+@[^\\s@.]+(\\.[^\\s@.]+)+'

/** Something@something.tld without spaces; whether mail arrives there, only mail can tell. */
export const EMAIL_PATTERN = `^${ADDRESS}$`

/** For fields that are trimmed before they are used. */
export const PADDED_EMAIL_PATTERN = `^\\s*${ADDRESS}\\s*$`

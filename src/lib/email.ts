/** Something@something.tld without spaces; whether mail arrives there, only mail can tell. */
export const EMAIL_PATTERN = '^[^\\s@]+@[^\\s@.]+(\\.[^\\s@.]+)+$'

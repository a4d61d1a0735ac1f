export interface NewMailbox {
  email: string
  name: string | null
  password: string
}

/**
 * Reads lines of `address, name, password`, separated by commas, semicolons or tabs. The name may be
 * left out; a password that is left out is made by `newPassword`. A first line without @ is a header.
 */
export function parseMailboxes(
  text: string,
  newPassword: () => string,
): { mailboxes: NewMailbox[]; badLine?: number } {
  const mailboxes: NewMailbox[] = []
  let badLine: number | undefined
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const [email = '', name = '', password = ''] = cells(line)
    if (line.trim() === '' || (index === 0 && !line.includes('@'))) continue
    if (!/^[^\s@]+@[^\s@]+$/.test(email)) badLine ??= index + 1
    else mailboxes.push({ email, name: name || null, password: password || newPassword() })
  }
  return { mailboxes, ...(badLine !== undefined && { badLine }) }
}

/** The cells of a line; a cell in quotes may contain separators, and "" is a quote. */
function cells(line: string): string[] {
  const found = line.matchAll(/\s*(?:"((?:[^"]|"")*)"|([^,;\t]*))\s*(?:[,;\t]|$)/g)
  return [...found].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain?.trim() ?? '')
}

const LETTERS = 'abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'

/** Sixteen characters without those that look alike, with a digit. */
export function makePassword(): string {
  const random = crypto.getRandomValues(new Uint32Array(16))
  const text = Array.from(random, (value) => LETTERS[value % LETTERS.length]).join('')
  return /\d/.test(text) && /[a-zA-Z]/.test(text) ? text : makePassword()
}

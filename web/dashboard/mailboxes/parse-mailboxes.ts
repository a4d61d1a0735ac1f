import { cells, isAddress, linesOf } from '../../lib/cells.ts'

export interface NewMailbox {
  email: string
  name: string | null
  password: string
}

/** A line as the preview shows it. */
export interface MailboxLine {
  line: number
  email: string
  name: string
  hasPassword: boolean
  problem?: 'noAddress' | 'twice'
}

/**
 * Reads lines of `address, name, password`. The name may be left out; a password that is left out is
 * made by `newPassword`.
 */
export function parseMailboxes(
  text: string,
  newPassword: () => string,
): { mailboxes: NewMailbox[]; lines: MailboxLine[]; badLine?: number } {
  const mailboxes: NewMailbox[] = []
  const lines: MailboxLine[] = []
  const seen = new Set<string>()
  for (const { line, text: one } of linesOf(text)) {
    const [email = '', name = '', password = ''] = cells(one)
    const key = email.toLowerCase()
    const problem = isAddress(email) ? (seen.has(key) ? 'twice' : undefined) : 'noAddress'
    seen.add(key)
    lines.push({ line, email, name, hasPassword: password !== '', ...(problem && { problem }) })
    if (!problem) mailboxes.push({ email, name: name || null, password: password || newPassword() })
  }
  const bad = lines.find(({ problem }) => problem)
  return { mailboxes, lines, ...(bad && { badLine: bad.line }) }
}

const LETTERS = 'abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'

/** Sixteen characters without those that look alike, with a digit. */
export function makePassword(): string {
  const random = crypto.getRandomValues(new Uint32Array(16))
  const text = Array.from(random, (value) => LETTERS[value % LETTERS.length]).join('')
  return /\d/.test(text) && /[a-zA-Z]/.test(text) ? text : makePassword()
}

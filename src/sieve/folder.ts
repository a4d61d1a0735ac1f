const MAX_LENGTH = 240

/**
 * The reason that Dovecot cannot create a folder with this name; undefined when it can. Folders are
 * stored as Maildir++, where a dot separates the levels on disk and `/` does in names.
 */
export function folderProblem(name: string): string | undefined {
  if (encodedLength(name) > MAX_LENGTH) return 'it is too long'
  if (/\p{Cc}|\p{Cs}|\ufffd/u.test(name)) return 'it has a control character'
  if (name.includes('.')) return 'it has a dot'
  if (name.startsWith('~')) return 'it begins with ~'
  if (name.split('/').includes('')) return 'a part between slashes is empty'
  return undefined
}

/** RFC 3501 §5.1.3: on disk other characters than ASCII are written in base64 of UTF-16. */
const encodedLength = (name: string): number =>
  name.replace(/[^ -~]+/g, (run) => '-'.repeat(Math.ceil((run.length * 8) / 3) + 2)).length

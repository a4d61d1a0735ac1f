import type { Attachment } from '../../../content/message.ts'

/** `exe` and `.exe` are extensions; `application/pdf` and `image/*` are what a part says it is. */
export function isFileType({ name, type }: Attachment, pattern: string): boolean {
  const wanted = pattern.trim().toLowerCase()
  if (!wanted.includes('/')) {
    // Windows drops dots and spaces at the end: `a.exe.` opens as `a.exe`.
    const file = name.toLowerCase().replace(/[. ]+$/, '')
    return file.endsWith(`.${wanted.replace(/^\./, '')}`)
  }
  const actual = type.toLowerCase()
  return wanted.endsWith('/*') ? actual.startsWith(wanted.slice(0, -1)) : actual === wanted
}

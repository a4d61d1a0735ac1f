import type { Attachment } from '../../../mime/parts.ts'

/** `exe` and `.exe` match the file name; `application/pdf` and `image/*` match the declared type. */
export function isFileType({ name, type }: Attachment, pattern: string): boolean {
  const normalized = pattern.trim().toLowerCase()
  if (!normalized.includes('/')) {
    // Windows drops dots and spaces at the end: `a.exe.` opens as `a.exe`.
    const file = name.toLowerCase().replace(/[. ]+$/, '')
    return file.endsWith(`.${normalized.replace(/^\./, '')}`)
  }
  const actual = type.toLowerCase()
  return normalized.endsWith('/*')
    ? actual.startsWith(normalized.slice(0, -1))
    : actual === normalized
}

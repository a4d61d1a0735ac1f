import type { QuotaConfiguration } from '../../../hosting/quota-configuration.ts'
import type { MailFile } from './files.ts'

const MIB = 1024 ** 2

/** Returns why these limits refuse a message, or undefined. */
export function attachmentProblem(
  quotas: QuotaConfiguration,
  messageBytes: number,
  files: readonly MailFile[],
): string | undefined {
  if (!quotas.enforce_limits) return undefined
  if (messageBytes > quotas.max_email_size) {
    return `the message is larger than ${megabytes(quotas.max_email_size)}`
  }
  for (const file of files) {
    const limit = file.isAttachment
      ? Math.min(quotas.max_attachment_size, quotas.max_file_size)
      : quotas.max_file_size
    if (file.bytes > limit) return `${titleOf(file)} is larger than ${megabytes(limit)}`
    const { allowed_file_types: allowed, blocked_file_types: blocked } = quotas
    if (blocked?.some((type) => isOfType(file, type))) {
      return `${titleOf(file)} is of a type that is not accepted`
    }
    if (allowed && file.isAttachment && !allowed.some((type) => isOfType(file, type))) {
      return `${titleOf(file)} is not of a type that is accepted`
    }
  }
  return undefined
}

/** A type is an extension, with or without its dot, or a MIME type such as `image/*`. */
function isOfType({ name, type }: MailFile, wanted: string): boolean {
  const word = wanted.trim().toLowerCase()
  if (word.includes('/')) {
    const mime = type.toLowerCase()
    return word.endsWith('/*') ? mime.startsWith(word.slice(0, -1)) : mime === word
  }
  // Some systems ignore dots and spaces at the end of a name.
  const plain = name.toLowerCase().replace(/[. ]+$/, '')
  return plain.endsWith(`.${word.replace(/^\./, '')}`)
}

const titleOf = ({ name }: MailFile) =>
  name === '' ? 'an attachment' : `the file ${name.replace(/[^\x20-\x7e]/g, '?').slice(0, 100)}`

const megabytes = (bytes: number) =>
  bytes >= MIB ? `${Math.floor(bytes / MIB)} MB` : `${bytes} bytes`

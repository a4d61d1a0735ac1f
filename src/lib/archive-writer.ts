import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { ZipFile } from 'yazl'

export type ArchiveWriter = ReturnType<typeof archiveWriter>

/** Writes a zip entry by entry, so that memory use does not grow with the archive. */
export function archiveWriter() {
  const zip = new ZipFile()
  const output = zip.outputStream as Readable
  zip.on('error', (error: Error) => output.destroy(error))
  return {
    output,
    json(name: string, value: unknown) {
      zip.addBuffer(Buffer.from(`${JSON.stringify(value, null, 2)}\n`), name)
    },
    text(name: string, value: string) {
      zip.addBuffer(Buffer.from(value), name)
    },
    /** Resolves when the content is read to its end, so that entries do not queue in memory. */
    async stream(name: string, content: Readable) {
      content.on('error', (error) => output.destroy(error))
      // After the output is closed the content is never read, and would never end.
      const abort = () => content.destroy(new Error('archive output closed early'))
      output.once('close', abort)
      zip.addReadStream(content, name)
      await finished(content, { writable: false })
      output.off('close', abort)
    },
    end: () => zip.end(),
  }
}

/** Encodes a folder name as a single path segment that is valid on every operating system. */
export const pathPart = (name: string): string =>
  name
    .normalize('NFC')
    .replace(/[\0-\x1f\x7f<>:"/\\|?*%]/g, (character) => `%${hex(character)}`)
    .replace(/^\.+$|[. ]$/g, (dots) => [...dots].map((character) => `%${hex(character)}`).join(''))
    .slice(0, 200) || '%'

const hex = (character: string) =>
  character.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()

/** Text that a spreadsheet would run as a formula is prefixed with an apostrophe. */
export const csvLine = (cells: readonly (string | number)[]): string =>
  `${cells.map(cell).join(',')}\r\n`

function cell(value: string | number): string {
  const text = String(value)
  const plain = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}

import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { ZipFile } from 'yazl'

export type ArchiveWriter = ReturnType<typeof archiveWriter>

/** A zip that is written entry by entry: no more of it is in memory than what is on its way. */
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
    /** Done once all of it was read, so that the next entry does not wait in memory. */
    async stream(name: string, content: Readable) {
      content.on('error', (error) => output.destroy(error))
      // Given up: nobody reads on, so this would never end by itself.
      const giveUp = () => content.destroy(new Error('the archive was given up'))
      output.once('close', giveUp)
      zip.addReadStream(content, name)
      await finished(content, { writable: false })
      output.off('close', giveUp)
    },
    end: () => zip.end(),
  }
}

/** A name that is one part of a path on every system, whatever a folder is called. */
export const pathPart = (name: string): string =>
  name
    .normalize('NFC')
    .replace(/[\0-\x1f\x7f<>:"/\\|?*%]/g, (character) => `%${hex(character)}`)
    .replace(/^\.+$|[. ]$/g, (dots) => [...dots].map((character) => `%${hex(character)}`).join(''))
    .slice(0, 200) || '%'

const hex = (character: string) =>
  character.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()

/** One line of CSV. A cell that a spreadsheet would take for a formula is made text. */
export const csvLine = (cells: readonly (string | number)[]): string =>
  `${cells.map(cell).join(',')}\r\n`

function cell(value: string | number): string {
  const text = String(value)
  const plain = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}

/** RFC 3501 section 5.1.3: folder names in modified UTF-7. */
export const encodeName = (name: string): string =>
  name.replace(/&|[^\x20-\x7e]+/g, (run) => (run === '&' ? '&-' : `&${base64Of(run)}-`))

function base64Of(text: string): string {
  const bytes = Buffer.from(text, 'utf16le').swap16()
  return bytes.toString('base64').replace(/=+$/, '').replaceAll('/', ',')
}

export const decodeName = (name: string): string =>
  name
    .replace(/&([A-Za-z0-9+,]*)-/g, (_, base64: string) => {
      if (base64 === '') return '&'
      const bytes = Buffer.from(base64.replaceAll(',', '/'), 'base64')
      return bytes
        .subarray(0, bytes.length & ~1)
        .swap16()
        .toString('utf16le')
    })
    .toWellFormed()

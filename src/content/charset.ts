/** Bytes of a part as text; a charset that nobody knows, or a lie about it, costs no character. */
export function textOf(bytes: Buffer, charset: string | false): string {
  return strictText(bytes, charset) ?? strictText(bytes, 'utf-8') ?? bytes.toString('latin1')
}

/** Undefined when the bytes are not text of this charset. Without one it is ASCII, or UTF-8. */
export function strictText(bytes: Buffer, charset: string | false): string | undefined {
  const name = normalized(charset)
  try {
    return new TextDecoder(name === 'us-ascii' ? 'utf-8' : name, {
      fatal: true,
      ignoreBOM: true,
    }).decode(bytes)
  } catch {
    return undefined
  }
}

const normalized = (charset: string | false): string => (charset || 'us-ascii').trim().toLowerCase()

export const isUtf8 = (charset: string | false): boolean => /^utf-?8$/.test(normalized(charset))

/** Whether ASCII text may be put between its characters as it is. */
export const holdsAscii = (charset: string | false): boolean =>
  /^(us-ascii|ascii|utf-?8|iso-8859-\d+|latin\d+|windows-125\d|cp125\d|koi8-[ru])$/.test(
    normalized(charset),
  )

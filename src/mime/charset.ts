/** Decodes the bytes of a part. If the named charset is unknown or wrong, UTF-8 or Latin-1 is used. */
export function textOf(bytes: Buffer, charset: string | false): string {
  return strictText(bytes, charset) ?? strictText(bytes, 'utf-8') ?? bytes.toString('latin1')
}

/** Undefined if the bytes are not valid in this charset. Without a charset it is ASCII or UTF-8. */
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

export function isKnownCharset(charset: string): boolean {
  try {
    return new TextDecoder(charset) !== undefined
  } catch {
    return false
  }
}

const normalized = (charset: string | false): string => (charset || 'us-ascii').trim().toLowerCase()

export const isUtf8 = (charset: string | false): boolean => /^utf-?8$/.test(normalized(charset))

/** Returns whether ASCII text can be inserted byte for byte between characters of this charset. */
export const holdsAscii = (charset: string | false): boolean =>
  /^(us-ascii|ascii|utf-?8|iso-8859-\d+|latin\d+|windows-125\d|cp125\d|koi8-[ru])$/.test(
    normalized(charset),
  )

// Multi-byte charsets are included: their bytes below 128 that can begin or end a tag are ASCII.
const ASCII_MARKUP =
  /^(us-ascii|ascii|ansi_x3\.4-1968|utf-?8|iso[-_]?8859-\d{1,2}(-[ei])?|latin-?\d|windows-(125\d|874|31j)|cp(125\d|932)|koi8-[ru]|macintosh|tis-620|shift[-_]jis|gbk|gb2312|gb18030|big5(-hkscs)?|euc-(jp|kr)|ks_c_5601-1987)$/

/** Returns whether tags of HTML in this charset can be found and replaced byte by byte. */
export const hasAsciiMarkup = (charset: string | false): boolean =>
  ASCII_MARKUP.test(normalized(charset))

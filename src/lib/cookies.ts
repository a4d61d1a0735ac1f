/** One cookie of a `Cookie` header, without parsing the rest of it. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  if (header === undefined) return undefined
  for (let at = header.indexOf(`${name}=`); at !== -1; at = header.indexOf(`${name}=`, at + 1)) {
    // Not the tail of a longer name. Some clients leave out the space after the semicolon.
    if (at > 0 && !/[; ]/.test(header[at - 1] as string)) continue
    const from = at + name.length + 1
    const end = header.indexOf(';', from)
    const value = header.slice(from, end === -1 ? undefined : end).trim()
    return value === '' ? undefined : value
  }
  return undefined
}

export interface CookieOptions {
  httpOnly: boolean
  secure: boolean
  maxAgeSeconds: number
}

/** Values are our own URL-safe tokens, so they need no escaping. */
export function setCookie(name: string, value: string, options: CookieOptions): string {
  const parts = [`${name}=${value}`, 'Path=/', 'SameSite=Lax', `Max-Age=${options.maxAgeSeconds}`]
  if (options.httpOnly) parts.push('HttpOnly')
  if (options.secure) parts.push('Secure')
  return parts.join('; ')
}

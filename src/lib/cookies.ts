/** One cookie of a `Cookie` header, without parsing the rest of it. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  if (!header) return undefined
  const start = header.startsWith(`${name}=`) ? 0 : header.indexOf(`; ${name}=`) + 2
  if (start === 1) return undefined
  const from = start + name.length + 1
  const end = header.indexOf(';', from)
  const value = header.slice(from, end === -1 ? undefined : end).trim()
  return value === '' ? undefined : value
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

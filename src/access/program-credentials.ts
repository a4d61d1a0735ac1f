const MAX_VALUE = 4096

export type Credential =
  | { scheme: 'basic'; email: string; password: string }
  | { scheme: 'bearer'; token: string }

/** The credential in an `Authorization` header of a program; undefined when there is none that can be used. */
export function credentialIn(header: string | undefined): Credential | undefined {
  const [, scheme = '', value = ''] = /^(\S+) +(\S+) *$/.exec(header ?? '') ?? []
  if (value.length > MAX_VALUE) return undefined
  if (scheme.toLowerCase() === 'bearer') return { scheme: 'bearer', token: value }
  if (scheme.toLowerCase() !== 'basic') return undefined
  const text = Buffer.from(value, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 1 || text.includes('\0')) return undefined
  return { scheme: 'basic', email: text.slice(0, colon), password: text.slice(colon + 1) }
}

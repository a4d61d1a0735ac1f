const SECRET_WORDS = [
  'password',
  'passwd',
  'passphrase',
  'secret',
  'token',
  'api_key',
  'apikey',
  'authorization',
  'private_key',
  'privatekey',
  'credential',
  'cookie',
  'two_factor',
  'otp',
  'backup_code',
]
const MARK = '[redacted]'

/** Returns a copy in which every field with a secret-like name is masked, at any depth. */
export function redact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redact)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, isSecret(name) ? MARK : redact(inner)]),
  )
}

const isSecret = (name: string): boolean => {
  const plain = name.toLowerCase().replaceAll('-', '_')
  return SECRET_WORDS.some((word) => plain.includes(word))
}

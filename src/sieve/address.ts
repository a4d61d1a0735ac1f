// RFC 5322 §3.2.3: the characters of an atom.
const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const ADDRESS = new RegExp(`^${ATOM}(?:\\.${ATOM})*@${LABEL}(?:\\.${LABEL})+$`)
const MAX_ADDRESS = 254

/** Accepts only dot-atoms and dotted domains, which need no escaping in scripts and headers. */
export const isAddress = (text: string): boolean => text.length <= MAX_ADDRESS && ADDRESS.test(text)

export const isSameAddress = (one: string, other: string): boolean =>
  one.toLowerCase() === other.toLowerCase()

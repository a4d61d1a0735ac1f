// The first that matches: Edge and Opera name Chrome too, and Chrome names Safari.
const BROWSERS = [
  ['Edge', /Edg\//],
  ['Opera', /OPR\//],
  ['Firefox', /Firefox\//],
  ['Chrome', /Chrome\//],
  ['Safari', /Safari\//],
] as const
const SYSTEMS = [
  ['Android', /Android/],
  ['iPhone', /iPhone/],
  ['iPad', /iPad/],
  ['Windows', /Windows/],
  ['macOS', /Mac OS X/],
  ['Linux', /Linux/],
] as const

const first = (names: readonly (readonly [string, RegExp])[], text: string) =>
  names.find(([, pattern]) => pattern.test(text))?.[0]

/** Browser and system, where the user agent names ones that people know. */
export function device(userAgent: string): { browser: string; system: string } | undefined {
  const browser = first(BROWSERS, userAgent)
  const system = first(SYSTEMS, userAgent)
  return browser && system ? { browser, system } : undefined
}

/** A comment line that holds settings, so that they can be read back: `# name: {compact JSON}`. */
export const marker = (name: string, settings: object): string =>
  `# ${name}: ${JSON.stringify(settings).replace(UNSAFE, escaped)}`

// JSON leaves these as they are, and some readers take them for the end of a line.
const UNSAFE = /[\u007f-\u009f\u2028\u2029]/g

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** The settings of every readable marker of that name; an unreadable one is passed over. */
export function markers(script: string, name: string): Record<string, unknown>[] {
  const start = `# ${name}: `
  return script
    .split(/\r\n|\r|\n/)
    .filter((line) => line.startsWith(start))
    .flatMap((line) => {
      try {
        const settings: unknown = JSON.parse(line.slice(start.length))
        return isObject(settings) ? [settings] : []
      } catch {
        return []
      }
    })
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** A script with a command in it and no marker was written by somebody else. */
export const isForeign = (script: string, name: string): boolean =>
  markers(script, name).length === 0 && /^\s*[a-z]/im.test(withoutComments(script))

const withoutComments = (script: string) =>
  script.replace(/\/\*[\s\S]*?\*\//g, '').replace(/#.*/g, '')

/** What a settings object is made of when it comes back from a mail server. */
export const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
export const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null

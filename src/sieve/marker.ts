import { isObject } from '../lib/is-object.ts'
/** Writes settings into a comment line that `markers` can parse: `# name: {compact JSON}`. */
export const marker = (name: string, settings: object): string =>
  `# ${name}: ${JSON.stringify(settings).replace(UNSAFE, escaped)}`

// JSON does not escape these, and some parsers treat them as line ends.
const UNSAFE = /[\u007f-\u009f\u2028\u2029]/g

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Parses all markers of a name; skips malformed ones. */
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

/** A script with commands but without a marker was not written by Mailplane. */
export const isForeign = (script: string, name: string): boolean =>
  markers(script, name).length === 0 && /^\s*[a-z]/im.test(withoutComments(script))

const withoutComments = (script: string) =>
  script.replace(/\/\*[\s\S]*?\*\//g, '').replace(/#.*/g, '')

/** Validates a value that was parsed from a script. */
export const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
export const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null

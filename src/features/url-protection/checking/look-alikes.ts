import { domainToUnicode } from 'node:url'
import { namesAbove } from '../lists/entries.ts'

/** Letters of other scripts that look like Latin ones in most fonts (a selection of UTS 39). */
const ALIKE: Record<string, string> = {
  a: 'аɑαａ',
  b: 'ьᏏｂ',
  c: 'сϲⅽｃ',
  d: 'ԁⅾɗｄ',
  e: 'еєҽｅ',
  f: 'ғƒｆ',
  g: 'ɡցｇ',
  h: 'һհнｈ',
  i: 'іıιɩⅰӏｉ',
  j: 'јϳｊ',
  k: 'кκｋ',
  l: 'ⅼł|ｌ1',
  m: 'мⅿｍ',
  n: 'ոпｎ',
  o: 'оοօσｏ0',
  p: 'рρｐ',
  q: 'ԛգｑ',
  r: 'гｒ',
  s: 'ѕꜱｓ5',
  t: 'тτｔ',
  u: 'υսцｕ',
  v: 'νѵⅴｖ',
  w: 'ԝωѡｗ',
  x: 'хχⅹｘ',
  y: 'уүγｙ',
  z: 'ᴢｚ2',
}
const LATIN = new Map(
  Object.entries(ALIKE).flatMap(([letter, others]) =>
    [...others].map((other) => [other, letter] as const),
  ),
)

/** Names with the same skeleton look alike. The order matters: pairs of letters come last. */
export function skeletonOf(name: string): string {
  const letters = domainToUnicode(name) || name
  const plain = [...letters.normalize('NFD').replace(/\p{M}/gu, '')]
    .map((letter) => LATIN.get(letter) ?? letter)
    .join('')
  return plain
    .replaceAll('i', 'l')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
    .replaceAll('cl', 'd')
    .replaceAll('-', '')
}

/** Latin together with Cyrillic or Greek in one label: no language writes like that. */
export function mixesScripts(host: string): boolean {
  if (!host.includes('xn--')) return false
  return domainToUnicode(host)
    .split('.')
    .some((label) => /\p{sc=Latin}/u.test(label) && /[\p{sc=Cyrillic}\p{sc=Greek}]/u.test(label))
}

/** The names of hosted domains, to find names that imitate them. */
export function hostedNames(names: readonly string[]) {
  const hosted = new Set(names)
  const skeletons = new Set(names.map(skeletonOf))

  return {
    /** The host looks like a hosted domain, or begins with the name of one, and is another. */
    isImitatedBy(host: string): boolean {
      const above = namesAbove(host)
      if (skeletons.size === 0 || above.some((name) => hosted.has(name))) return false
      const isAlike = above.some((name) => name.includes('.') && skeletons.has(skeletonOf(name)))
      return isAlike || beginnings(host).some((name) => hosted.has(name))
    },
  }
}

/** The parts of a host that could be taken for the whole: `acme.example` of `acme.example.login.test`. */
function beginnings(host: string): string[] {
  const labels = host.split('.').slice(0, 12)
  return labels.flatMap((_, from) =>
    Array.from({ length: Math.max(0, labels.length - from - 2) }, (_, more) =>
      labels.slice(from, from + 2 + more).join('.'),
    ),
  )
}

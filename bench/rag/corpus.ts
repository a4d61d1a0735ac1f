/** Pseudo-random numbers, identical in every run. */
export function dice(seed: number) {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

const SYLLABLES =
  'ba be bi bo da de di do fa fe ga go ha he ka ke ki ko la le li lo ma me mi mo na ne no pa pe po ra re ri ro sa se si so ta te ti to va ve vi wa wo za'.split(
    ' ',
  )
const SMALL = 'the of and to in is that for it with as was on are be this from or by not'.split(' ')
const VOCABULARY = 30_000

export interface Letter {
  source: Buffer
  /** Sentences from which the questions are made. */
  sentences: string[][]
}

/** Messages of invented words whose frequencies follow those of a natural language. */
export function corpus(seed = 1) {
  const random = dice(seed)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const words = new Set<string>()
  while (words.size < VOCABULARY) {
    let word = ''
    for (let count = 2 + Math.floor(random() * 3); count > 0; count--) word += pick(SYLLABLES)
    words.add(word)
  }
  const vocabulary = [...words]
  // Zipf: the word of rank n occurs about 1/n as often as the first.
  const word = () => vocabulary[Math.floor(VOCABULARY ** random()) - 1] as string

  return (number: number): Letter => {
    const sentences = Array.from({ length: 4 + Math.floor(random() * 8) }, () =>
      Array.from({ length: 8 + Math.floor(random() * 8) }, () =>
        random() < 0.35 ? pick(SMALL) : word(),
      ),
    )
    const body = sentences.map((sentence) => `${sentence.join(' ')}.`).join('\r\n')
    const text = `From: ${word()}@sender.test\r\nTo: box@bench.test\r\nSubject: ${word()} ${word()}\r\nMessage-ID: <${number}@bench.test>\r\nDate: Mon, 2 Mar 2026 10:00:00 +0000\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${body}\r\n`
    return { source: Buffer.from(text), sentences }
  }
}

/** Takes some words of a sentence and misspells each with the given probability. */
export function question(sentence: string[], random: () => number, mistakes: number): string {
  const telling = sentence.filter((word) => !SMALL.includes(word))
  return [...new Set(telling)]
    .sort(() => random() - 0.5)
    .slice(0, 5)
    .map((word) => (random() < mistakes ? misspelled(word, random) : word))
    .join(' ')
}

function misspelled(word: string, random: () => number): string {
  const at = 1 + Math.floor(random() * (word.length - 2))
  const kind = random()
  if (kind < 0.33) return word.slice(0, at) + word.slice(at + 1)
  if (kind < 0.66) return `${word.slice(0, at)}x${word.slice(at)}`
  return word.slice(0, at) + word.charAt(at + 1) + word.charAt(at) + word.slice(at + 2)
}

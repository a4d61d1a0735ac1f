/** Frequent words of each language, by the name of its text search configuration in PostgreSQL. */
const COMMON: Record<string, string> = {
  english:
    'the of and to in is that for it with as was on are be this have from or by not you we at an will your can has but they which our would please all if there been',
  german:
    'der die das und ist nicht ich sie mit den von zu auf für dem ein eine im es wir des auch sich als bei aus nach wie wird sind oder einen bitte ihr uns haben zum',
  french:
    'le la les des et est une un que qui dans pour pas sur au du avec ce vous nous par il elle sont plus ne votre cette mais ou aux être leur merci',
  spanish:
    'el la los las de que y en un una es por con para no se del al su lo como más pero sus este esta hay muy nos ya está gracias',
  italian:
    'il lo la gli di che è e un una per non con del della sono si come da dei nel alla più anche ma questo questa ci al delle grazie',
  dutch:
    'de het een en van is dat op te niet met zijn voor er aan die ook als bij om maar dan wij naar heeft uw deze wordt je ik graag',
  portuguese:
    'o os de que e em um uma para não com do da dos das por mais como mas ao se na no foi são este esta você nos obrigado',
  swedish:
    'och att det i en är som på för av med den till inte har de ett om var vi jag från kan ni så eller detta men ska tack',
  danish:
    'og at det i en er som på for af med den til ikke har de et om var vi jeg fra kan så eller dette men skal hvis dig tak',
  norwegian:
    'og at det i en er som på for av med den til ikke har de et om var vi jeg fra kan så eller dette men skal hvis deg takk',
  finnish:
    'ja on ei se että oli hän joka mutta myös ovat kuin tämä niin sen jos ole olla tai mitä kun sekä voi vain kiitos',
  russian:
    'и в не на что с он по это как но из у за то от для все так мы вы бы его при или был быть если уже спасибо',
}

/** The configuration for a text that is too short to detect: no stemming. */
const UNKNOWN = 'simple'
const SAMPLE_CHARACTERS = 4000
const LEAST_HITS = 3

const languagesOf = new Map<string, string[]>()
for (const [language, words] of Object.entries(COMMON)) {
  for (const word of words.split(' ')) {
    languagesOf.set(word, [...(languagesOf.get(word) ?? []), language])
  }
}

export const isStopWord = (word: string): boolean => languagesOf.has(word)

/** The language with the most frequent words in the text; the first one of a tie. */
export function languageOf(text: string): string {
  const hits = new Map<string, number>()
  const sample = text.slice(0, SAMPLE_CHARACTERS).toLowerCase()
  for (const [word] of sample.matchAll(/\p{L}+/gu)) {
    const languages = languagesOf.get(word) ?? []
    // A word that several languages share counts less.
    for (const one of languages) hits.set(one, (hits.get(one) ?? 0) + 1 / languages.length)
  }
  let best = UNKNOWN
  let most = LEAST_HITS - 1
  for (const language of Object.keys(COMMON)) {
    const count = hits.get(language) ?? 0
    if (count > most) [best, most] = [language, count]
  }
  return best
}

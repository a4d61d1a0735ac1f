const WORD = /[\p{L}\p{N}]/u
// These scripts are written without spaces, so a word has no visible boundary.
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u

const normalize = (text: string) => text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ')

/** Matches whole words, in any case and across line breaks. */
export function keywordTest(keyword: string): (text: string) => boolean {
  const needle = normalize(keyword).trim()
  const beginsWord = isEdge([...needle][0])
  const endsWord = isEdge([...needle].at(-1))
  return (text) => {
    const haystack = normalize(text)
    for (let at = haystack.indexOf(needle); at !== -1; at = haystack.indexOf(needle, at + 1)) {
      const before = haystack[at - 1] ?? ''
      const after = haystack[at + needle.length] ?? ''
      if (!(beginsWord && WORD.test(before)) && !(endsWord && WORD.test(after))) return true
    }
    return false
  }
}

const isEdge = (character = ''): boolean => WORD.test(character) && !UNSPACED.test(character)

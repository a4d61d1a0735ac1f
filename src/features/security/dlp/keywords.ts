const WORD = /[\p{L}\p{N}]/u
// Written without spaces: a word ends where the reader knows that it does.
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u

const simple = (text: string) => text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ')

/** Whether a text has the keyword, as words of their own, in any case, over the ends of lines too. */
export function keywordTest(keyword: string): (text: string) => boolean {
  const wanted = simple(keyword).trim()
  const beginsWord = isEdge([...wanted][0])
  const endsWord = isEdge([...wanted].at(-1))
  return (text) => {
    const within = simple(text)
    for (let at = within.indexOf(wanted); at !== -1; at = within.indexOf(wanted, at + 1)) {
      const before = within[at - 1] ?? ''
      const after = within[at + wanted.length] ?? ''
      if (!(beginsWord && WORD.test(before)) && !(endsWord && WORD.test(after))) return true
    }
    return false
  }
}

const isEdge = (character = ''): boolean => WORD.test(character) && !UNSPACED.test(character)

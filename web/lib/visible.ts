// Control, bidirectional and zero-width characters. A name must not be able to reorder the text
// around it or to look like another name.
const INVISIBLE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu

/** Shows characters that have no shape as their code: `[U+202E]`. */
export const visible = (text: string): string =>
  text.replace(
    INVISIBLE,
    (character) =>
      `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
  )

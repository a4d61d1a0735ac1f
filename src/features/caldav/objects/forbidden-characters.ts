/** Control characters, which iCalendar and vCard do not allow, and characters that XML cannot return. */
const FORBIDDEN = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]|\p{Surrogate}/u

export const hasForbiddenCharacters = (text: string): boolean => FORBIDDEN.test(text)

export const FORBIDDEN_CHARACTERS = 'The object contains control characters'

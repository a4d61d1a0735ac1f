/** Payment cards and Canadian SIN: doubles every second digit from the right. */
export function luhn(digits: string): boolean {
  let sum = 0
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits[digits.length - 1 - index])
    const doubled = index % 2 === 1 ? digit * 2 : digit
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}

/** ISO 7064 MOD 97-10 of an IBAN: the first four characters move to the end, A is 10. */
export function mod97(iban: string): boolean {
  let rest = 0
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const number = Number.parseInt(character, 36)
    rest = (rest * (number > 9 ? 100 : 10) + number) % 97
  }
  return rest === 1
}

const weighted = (digits: string, weights: readonly number[]): number =>
  weights.reduce((sum, weight, index) => sum + weight * Number(digits[index]), 0)

/** Dutch BSN. */
export const elevenTest = (digits: string): boolean =>
  weighted(digits, [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0

/** Spanish DNI and NIE. */
export function dniLetter(id: string): boolean {
  const number = id.slice(0, -1).replace(/^[XYZ]/, (letter) => String('XYZ'.indexOf(letter)))
  return 'TRWAGMYFPDXBNJZSQVHLCKE'[Number(number) % 23] === id.at(-1)
}

/** French NIR: 13 digits and a key; departments of Corsica contain a letter. */
export function nirKey(id: string): boolean {
  const number = id.slice(0, 13).replace('2A', '19').replace('2B', '18')
  return 97 - Number(BigInt(number) % 97n) === Number(id.slice(13))
}

/** Polish PESEL. */
export const peselDigit = (digits: string): boolean =>
  (10 - (weighted(digits, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3]) % 10)) % 10 === Number(digits[10])

/** Brazilian CPF: each of the last two digits checks all digits before it. */
export function cpfDigits(digits: string): boolean {
  if (/^(\d)\1*$/.test(digits)) return false
  return [9, 10].every((length) => {
    const weights = Array.from({ length }, (_, index) => length + 1 - index)
    return ((weighted(digits, weights) * 10) % 11) % 10 === Number(digits[length])
  })
}

/** German tax id: ISO 7064 mod 11,10. */
export function taxIdDigit(digits: string): boolean {
  let product = 10
  for (const digit of digits.slice(0, 10)) {
    const sum = (Number(digit) + product) % 10 || 10
    product = (sum * 2) % 11
  }
  return (11 - product) % 10 === Number(digits[10])
}

const ODD = [
  1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23,
]

/** Italian codice fiscale. */
export function codiceLetter(code: string): boolean {
  let sum = 0
  for (let index = 0; index < 15; index++) {
    const number = Number.parseInt(code[index] as string, 36)
    const value = number > 9 ? number - 10 : number
    sum += index % 2 === 0 ? (ODD[value] as number) : value
  }
  return String.fromCharCode(65 + (sum % 26)) === code[15]
}

import * as checksums from './checksums.ts'

/** Detects one kind of personal data by its shape and a check of each candidate. */
interface Detector {
  /** Global, and without nested repetition because it runs over every message. */
  shape: RegExp
  isReal(candidate: string): boolean
}

const always = () => true
const stripped = (text: string) => text.replace(/[\s.\-/]/g, '').toUpperCase()
const checked =
  (check: (text: string) => boolean) =>
  (candidate: string): boolean =>
    check(stripped(candidate))

// A letter or digit on either side means that the text is part of a longer token.
const standalone = (shape: string) => new RegExp(`(?<![A-Za-z0-9])(?:${shape})(?![A-Za-z0-9])`, 'g')

const MIN_CARD_DIGITS = 13

/** Tests every prefix of groups, because a check value or a date may follow the card number. */
function containsCard(candidate: string): boolean {
  let digits = ''
  for (const group of candidate.split(/[ -]/)) {
    digits += group
    if (digits.length >= MIN_CARD_DIGITS && CARD_ISSUERS.test(digits) && checksums.luhn(digits))
      return true
  }
  return false
}

const CARD_ISSUERS =
  /^(4\d{12}(\d{3}){0,2}|5[1-5]\d{14}|2(22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|3(0[0-5]|[68]\d)\d{11}|6(011|5\d\d|4[4-9]\d)\d{12}|35(2[89]|[3-8]\d)\d{12}|62\d{14,17})$/

const IBAN_LENGTHS: Record<string, number> = Object.fromEntries(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 ' +
    'EE20 EG29 ES24 FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 ' +
    'IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 ' +
    'NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19 SK24 SM27 ST25 SV28 TL23 TN24 ' +
    'TR26 UA29 VA22 VG24 XK20'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
)

/** The shape also matches text after the IBAN; the country gives the length. */
function isIban(candidate: string): boolean {
  const text = stripped(candidate)
  const length = IBAN_LENGTHS[text.slice(0, 2)]
  return length !== undefined && text.length >= length && checksums.mod97(text.slice(0, length))
}

export const DETECTORS: Record<string, Detector> = {
  credit_card: {
    shape: standalone('\\d(?:[ -]?\\d){12,18}'),
    isReal: containsCard,
  },
  iban: { shape: standalone('[A-Za-z]{2}\\d{2}(?: ?[A-Za-z0-9]){11,30}'), isReal: isIban },
  // There is no checksum; the shape excludes numbers that are never issued.
  us_ssn: {
    shape: standalone('(?!000|666|9)\\d{3}[- ](?!00)\\d{2}[- ](?!0000)\\d{4}'),
    isReal: always,
  },
  uk_nino: {
    shape: standalone(
      '(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\\d{2} ?\\d{2} ?\\d{2} ?[A-D]',
    ),
    isReal: always,
  },
  ca_sin: {
    shape: standalone('[1-79]\\d{2}[- ]\\d{3}[- ]\\d{3}'),
    isReal: checked(checksums.luhn),
  },
  nl_bsn: { shape: standalone('[1-9]\\d{8}'), isReal: checked(checksums.elevenTest) },
  es_dni: {
    shape: standalone('[XYZxyz\\d]\\d{7}-?[A-Za-z]'),
    isReal: checked(checksums.dniLetter),
  },
  fr_nir: {
    shape: standalone('[12] ?\\d{2} ?\\d{2} ?(?:\\d{2}|2[ABab]) ?\\d{3} ?\\d{3} ?\\d{2}'),
    isReal: checked(checksums.nirKey),
  },
  it_codice_fiscale: {
    shape: standalone('[A-Za-z]{6}\\d{2}[A-Za-z]\\d{2}[A-Za-z]\\d{3}[A-Za-z]'),
    isReal: checked(checksums.codiceLetter),
  },
  pl_pesel: { shape: standalone('\\d{11}'), isReal: checked(checksums.peselDigit) },
  br_cpf: {
    shape: standalone('\\d{3}\\.\\d{3}\\.\\d{3}-\\d{2}'),
    isReal: checked(checksums.cpfDigits),
  },
  de_tax_id: {
    shape: standalone('[1-9]\\d ?\\d{3} ?\\d{3} ?\\d{3}'),
    isReal: checked(checksums.taxIdDigit),
  },
}

/** After a false candidate the search continues one character later: real data may overlap it. */
export function detects(name: string, text: string): boolean {
  const detector = DETECTORS[name]
  if (!detector) return false
  const { isReal, shape } = detector
  shape.lastIndex = 0
  for (let match = shape.exec(text); match; match = shape.exec(text)) {
    if (isReal(match[0])) return true
    shape.lastIndex = match.index + 1
  }
  return false
}

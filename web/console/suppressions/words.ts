const en = {
  title: 'Suppressions',
  hint: 'Addresses of all organizations that nothing is sent to.',
  organization: 'Organization',
  add: 'Add addresses',
  emails: 'Addresses',
  emailsHint: 'One in each line, at most 1000',
  added: (count: string) => `${count} addresses were added`,
  failed: (count: string, email: string, error: string) =>
    `${count} were not added. ${email}: ${error}`,
}

const de: typeof en = {
  title: 'Sperrlisten',
  hint: 'Adressen aller Organisationen, an die nichts gesendet wird.',
  organization: 'Organisation',
  add: 'Adressen eintragen',
  emails: 'Adressen',
  emailsHint: 'Eine je Zeile, höchstens 1000',
  added: (count) => `${count} Adressen wurden eingetragen`,
  failed: (count, email, error) => `${count} wurden nicht eingetragen. ${email}: ${error}`,
}

export const t: typeof en = LANGUAGE === 'de' ? de : en

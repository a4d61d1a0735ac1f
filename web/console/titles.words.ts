// Titles of the screens whose other texts are loaded on demand (later.tsx): the navigation has them.
const en = {
  account: 'My account',
  backups: 'Backups',
  certificates: 'Certificates',
  compliance: 'Compliance',
  holds: 'Legal holds',
  retention: 'Retention',
  whiteLabel: 'White label',
  brand: 'White label of an organization',
}

const de: typeof en = {
  account: 'Mein Konto',
  backups: 'Sicherungen',
  certificates: 'Zertifikate',
  compliance: 'Compliance',
  holds: 'Aufbewahrungspflichten',
  retention: 'Löschfristen',
  whiteLabel: 'White Label',
  brand: 'White Label einer Organisation',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en

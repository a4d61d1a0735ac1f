// Titles of the screens whose other texts are loaded on demand (later.tsx): the navigation has them.
const en = {
  archive: 'Archive',
  blockedSenders: 'Blocked senders',
  deletedMailboxes: 'Deleted mailboxes',
  provisioning: 'Provisioning failures',
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
  archive: 'Archiv',
  blockedSenders: 'Gesperrte Absender',
  deletedMailboxes: 'Gelöschte Postfächer',
  provisioning: 'Fehler der Einrichtung',
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
